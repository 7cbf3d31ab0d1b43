/** What arms are compared in: ratios of sums over sessions, as SQL over the fields of a report. */

export interface Metric {
  /** Prefix of its columns in the sums. */
  id: string;
  /** With the unit. */
  title: string;
  /** In a sentence. */
  noun: string;
  digits: number;
  /** The metric is sum(y) / sum(x) over the sessions in which x is not null. */
  x: string;
  y: string;
  isLowerBetter?: boolean;
}

const ofWatched = (field: string, seconds = 'watchedSeconds') => ({
  x: `case when ${field} is not null then ${seconds} end`,
  y: `${seconds} * ${field}`,
});
const bitrate = ofWatched('meanBitrateBps');

export const METRICS: readonly Metric[] = [
  { id: 'qoe', title: 'QoE', noun: 'QoE', digits: 2, ...ofWatched('qoe') },
  {
    ...{ id: 'minute', title: 'QoE, first minute', noun: 'QoE of the first minute', digits: 2 },
    ...ofWatched('qoeFirst60Seconds', 'least(watchedSeconds, 60)'),
  },
  {
    ...{ id: 'stalled', title: 'stalled, % of time', noun: 'time stalled', digits: 3, isLowerBetter: true },
    ...{ x: 'watchedSeconds + stallSeconds', y: '100 * stallSeconds' },
  },
  {
    ...{ id: 'startup', title: 'startup, s', noun: 'startup', digits: 3, isLowerBetter: true },
    ...{ x: 'case when started then 1 end', y: 'case when started then startupSeconds end' },
  },
  {
    ...{ id: 'unstarted', title: 'no picture, % of sessions', noun: 'share of sessions without a picture', digits: 2 },
    ...{ isLowerBetter: true, x: '1', y: 'case when started then 0 else 100 end' },
  },
  {
    ...{ id: 'bitrate', title: 'bitrate, Mbit/s', noun: 'bitrate', digits: 2 },
    ...{ x: bitrate.x, y: `${bitrate.y} / 1e6` },
  },
  { id: 'watched', title: 'watched, s per session', noun: 'watch time', digits: 1, x: '1', y: 'watchedSeconds' },
  {
    ...{ id: 'latency', title: 'live latency, s', noun: 'latency', digits: 2, isLowerBetter: true },
    ...ofWatched('latencySeconds'),
  },
];

/** The kinds of sessions that are also compared on their own: the column, its title, and its values as text. */
export const GROUPS = [
  {
    id: 'rhythm',
    title: 'rhythm of 15 s',
    sql: "case when rhythm is null then 'not known' when rhythm then 'yes' else 'no' end",
  },
  { id: 'player', title: 'player', sql: 'player' },
  { id: 'live', title: 'live', sql: "case when live then 'yes' else 'no' end" },
  { id: 'browser', title: 'browser', sql: 'browser' },
] as const;
