/** Session reports for tests: a valid one, drawn ones of a trial, and hostile ones. */

import { normal, type Random, seededRandom } from '../abr/statistics/random.ts';
import { SESSION_REPORT_FIELDS, type SessionReport } from './session-report.ts';

export function testReport(more: Partial<SessionReport> = {}): SessionReport {
  return {
    ...{ version: 1, id: '0123456789abcdef', day: '2026-01-31', leoAbr: '0.1.0' },
    ...{ player: 'dash.js', playerVersion: '5.2.1', browser: 'chromium', live: false, controller: 'mpc-l' },
    ...{ trial: 'pilot', arm: 'leo-abr', armShare: 0.5, unit: 'viewer', cluster: 17 },
    ...{ ended: 'page', started: true, startupSeconds: 0.8, watchedSeconds: 312.5, stallSeconds: 1.25, stallCount: 1 },
    ...{ meanBitrateBps: 4.2e6, topBitrateBps: 8e6, switches: 7 },
    ...{ perceivedQoe: 71.5, qoe: 3.1, qoeFirst30Seconds: 1.2, qoeFirst60Seconds: 2.4 },
    ...{ requestedBits: 1.4e9, wastedBits: 2e6, receivedBits: 1.5e9, aboveEnoughBits: 2e8 },
    ...{ throughput10Bps: 3e6, throughput50Bps: 9e6, throughput90Bps: 20e6, rhythm: true },
    ...{ forecasts: 60, below10Share: 0.1, below50Share: 0.5, below90Share: 0.9, faults: 'late,forecaster-failed' },
    ...more,
  };
}

const one = <T>(random: Random, of: readonly T[]) => of[Math.floor(random() * of.length)]!;

/** A report of the trial `pilot`, as parsed from JSON. In the arm `ours`, QoE is higher by 2 and stalls are half as long. */
export function drawReport(number: number, random: Random): SessionReport {
  const isOurs = random() < 0.5;
  const live = random() < 0.1;
  const started = random() < 0.98;
  const stallCount = random() < 0.3 ? 1 : 0;
  const qoe = started ? 10 + (isOurs ? 2 : 0) + 4 * normal(random) : undefined;
  const of = (value: number) => (started ? value : undefined);
  const report = testReport({
    id: (number + 2 ** 40).toString(16).padStart(16, '0'),
    day: `2026-03-${String(1 + Math.floor(random() * 14)).padStart(2, '0')}`,
    player: one(random, ['dash.js', 'hls.js', 'shaka']),
    browser: one(random, ['chromium', 'firefox', 'webkit']),
    ...{ live, started, stallCount, stallSeconds: stallCount * (isOurs ? 2 : 4) * random() },
    ...{ arm: isOurs ? 'ours' : 'own', controller: isOurs ? 'mpc-l' : 'player', cluster: Math.floor(random() * 1000) },
    startupSeconds: Math.round(3000 * random()) / 1000,
    watchedSeconds: started ? Math.round(-6e5 * Math.log(1 - random())) / 1000 : 0,
    ...{ meanBitrateBps: of(3e7 + Math.round(1e6 * random())), topBitrateBps: of(4e7), qoe },
    ...{ qoeFirst30Seconds: qoe && qoe - 1, qoeFirst60Seconds: qoe && qoe - 0.5 },
    ...{ perceivedQoe: qoe && qoe + 40, receivedBits: of(1e8 + 1e9 * random()) ?? 0 },
    latencySeconds: live ? of(3 + random()) : undefined,
    rhythm: one(random, [undefined, true, false]),
    faults: random() < 0.01 ? 'late' : undefined,
  } as Partial<SessionReport>);
  return JSON.parse(JSON.stringify(report));
}

/** Values that no field may have. */
const FOREIGN: readonly unknown[] = [
  ...[null, {}, [null], [[]], { length: 1 }, '', '\u0000', '<script>', "'; DROP TABLE reports; --", '\\', '"'],
  ...[-1e308, 1e308, Number.POSITIVE_INFINITY, Number.NaN, -1e9, 'x'.repeat(5000), ['\n'], { toString: 1 }],
];
const TEXTS = [
  ...['', ' ', 'null', '1', '"text"', '[]', '{}', '[{}]', '{"version":1', 'NaN', '{"id":NaN}', '\u0000', '{'],
  ...['{'.repeat(3000), '{"a":'.repeat(3000), `{"id":"${'y'.repeat(7000)}"}`],
];

/** Seeded invalid lines. */
export function hostileLines(count: number, seed = 1): string[] {
  const random = seededRandom(seed);
  const names = Object.keys(SESSION_REPORT_FIELDS);
  const needed = names.filter((name) => !('optional' in SESSION_REPORT_FIELDS[name as keyof SessionReport]));
  // JSON has no infinity, but 1e999 parses to it.
  const textOf = (report: object) =>
    JSON.stringify(report, (_, value) => (value === Number.POSITIVE_INFINITY ? '%' : value)).replace('"%"', '1e999');
  const changed = (change: Record<string, unknown>) => textOf({ ...testReport(), ...change });
  const kinds: (() => string)[] = [
    () => changed({ [one(random, names)]: one(random, FOREIGN) }),
    () => changed({ [one(random, needed)]: undefined }),
    () => changed({ version: one(random, [0, 2, '1', 1.5, -1, 1e9]) }),
    () => changed({ [one(random, ['ip', 'userId', 'constructor', 'a'.repeat(99)])]: 1 }),
    () => changed(one(random, [{ wastedBits: 2.8e9 }, { throughput10Bps: 5e10 }, { day: '2026-02-31' }])),
    () => changed({ [one(random, ['qoe', 'qoeFirst60Seconds'])]: one(random, [-1e6, -5e3, 9, 999]) }),
    () => changed({ [one(random, ['arm', 'cluster', 'qoe', 'below50Share', 'throughput90Bps'])]: undefined }),
    () => `{"__proto__":{"version":1},${changed({}).slice(1)}`,
    () => changed({}).slice(0, Math.floor(random() * 400)),
    () => one(random, TEXTS),
    () => String.fromCharCode(...Array.from({ length: 200 }, () => Math.floor(random() * 256))).replace(/[\r\n]/g, ' '),
    () => '['.repeat(Math.floor(random() * 4000)),
    () => one(random, ['\ufeff', '\ufffe', changed({}), '{},']) + changed({}),
  ];
  return Array.from({ length: count }, () => one(random, kinds)());
}
