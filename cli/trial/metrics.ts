/** What arms are compared in, as SQL over the fields of reports. */

/** sum(y) / sum(x) over the sessions in which x is not null. */
export interface Metric {
  /** In the names of its columns. */
  id: string;
  /** With the unit after a comma. */
  title: string;
  digits: number;
  x: string;
  y: string;
  isLowerBetter?: true;
}

const isLowerBetter = true;
const given = (condition: string, value: string) => `case when ${condition} then ${value} end`;
/** The mean over the time watched, in which a session without the field does not count. */
const overTime = (field: string, seconds = 'watchedSeconds') => ({
  x: given(`${field} is not null`, seconds),
  y: `${seconds} * ${field}`,
});
const stalled = { x: 'watchedSeconds + stallSeconds', y: '100 * stallSeconds', isLowerBetter } as const;
const startup = { x: given('started', '1'), y: given('started', 'startupSeconds'), isLowerBetter } as const;
const unstarted = { x: '1', y: 'case when started then 0 else 100 end', isLowerBetter } as const;

/** Metrics that decide, and are compared by kind of session. */
export const DECISIVE: readonly Metric[] = [
  { id: 'qoe', title: 'QoE', digits: 2, ...overTime('qoe') },
  { id: 'stalled', title: 'time stalled, %', digits: 3, ...stalled },
  { id: 'watched', title: 'watch time, s per session', digits: 1, x: '1', y: 'watchedSeconds' },
];

export const METRICS: readonly Metric[] = [
  ...DECISIVE,
  {
    id: 'minute',
    title: 'QoE of the first minute',
    digits: 2,
    ...overTime('qoeFirst60Seconds', 'least(watchedSeconds, 60)'),
  },
  { id: 'startup', title: 'startup, s', digits: 3, ...startup },
  { id: 'unstarted', title: 'without a picture, % of sessions', digits: 2, ...unstarted },
  { id: 'bitrate', title: 'bitrate, Mbit/s', digits: 2, ...overTime('meanBitrateBps / 1e6') },
  { id: 'latency', title: 'live latency, s', digits: 2, ...overTime('latencySeconds'), isLowerBetter },
];

/** The kinds of sessions that are also compared on their own, as columns `<id>_kind` of text. */
export const KINDS = {
  rhythm: "case when rhythm is null then 'not known' when rhythm then 'found' else 'none' end",
  player: 'player',
  live: "case when live then 'live' else 'on demand' end",
  browser: 'browser',
};
