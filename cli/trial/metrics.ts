/** What arms are compared in, as SQL over the fields of reports. */

/** sum(y) / sum(x) over the sessions in which x is not null. */
export type Metric = ReturnType<typeof metric>;

/** `id`: in the names of its columns; `title`: with the unit after a comma. */
function metric(id: string, title: string, digits: number, [x, y]: [string, string], isLowerBetter = false) {
  return { id, title, digits, x, y, isLowerBetter };
}

const given = (condition: string, value: string) => `case when ${condition} then ${value} end`;
/** The mean over the time watched, in which a session without the field does not count. */
const overTime = (field: string, seconds = 'watchedSeconds'): [string, string] => [
  given(`${field} is not null`, seconds),
  `${seconds} * ${field}`,
];

/** Metrics that decide, and are compared by kind of session. */
export const DECISIVE: readonly Metric[] = [
  metric('qoe', 'QoE', 2, overTime('qoe')),
  metric('stalled', 'time stalled, %', 3, ['watchedSeconds + stallSeconds', '100 * stallSeconds'], true),
  metric('watched', 'watch time, s per session', 1, ['1', 'watchedSeconds']),
];

export const METRICS: readonly Metric[] = [
  ...DECISIVE,
  metric('minute', 'QoE of the first minute', 2, overTime('qoeFirst60Seconds', 'least(watchedSeconds, 60)')),
  metric('startup', 'startup, s', 3, [given('started', '1'), given('started', 'startupSeconds')], true),
  metric('unstarted', 'without a picture, % of sessions', 2, ['1', 'case when started then 0 else 100 end'], true),
  metric('bitrate', 'bitrate, Mbit/s', 2, overTime('meanBitrateBps / 1e6')),
  metric('latency', 'live latency, s', 2, overTime('latencySeconds'), true),
];

/** The kinds of sessions that are also compared on their own, as columns `<id>_kind` of text. */
export const KINDS = {
  rhythm: "case when rhythm is null then 'not known' when rhythm then 'found' else 'none' end",
  player: 'player',
  live: "case when live then 'live' else 'on demand' end",
  browser: 'browser',
};
