/** Session reports for tests: a valid one with all fields, and hostile ones. */

import { type Random, seededRandom } from './random.ts';
import { SESSION_REPORT_FIELDS, type SessionReport } from './session-report.ts';

export function testReport(more: Partial<SessionReport> = {}): SessionReport {
  return {
    ...{ version: 1, id: '0123456789abcdef', day: '2026-01-31', leoAbr: '0.1.0' },
    ...{ player: 'dash.js', playerVersion: '5.2.1', browser: 'chromium', live: false, controller: 'mpc-l' },
    ...{ trial: 'spring', arm: 'leo-abr', armShare: 0.5, unit: 'viewer', cluster: 17 },
    ...{ ended: 'page', started: true, startupSeconds: 0.8, watchedSeconds: 312.5, stallSeconds: 1.25, stallCount: 1 },
    ...{
      meanBitrateBps: 4.2e6,
      topBitrateBps: 8e6,
      switches: 7,
      qoe: 3.1,
      qoeFirst30Seconds: 1.2,
      qoeFirst60Seconds: 2.4,
    },
    ...{ requestedBits: 1.4e9, wastedBits: 2e6 },
    ...{ throughput10Bps: 3e6, throughput50Bps: 9e6, throughput90Bps: 20e6, rhythm: true },
    ...{ forecasts: 60, below10Share: 0.1, below50Share: 0.5, below90Share: 0.9, faults: 'late,forecaster-failed' },
    ...more,
  } as SessionReport;
}

/** No field has one of these, in no number and no depth. */
const FOREIGN: readonly unknown[] = [
  ...[null, {}, [null], [[]], { length: 1 }, '', '\u0000', '<script>', "'; DROP TABLE reports; --"],
  ...[-1e308, 1e308, Number.POSITIVE_INFINITY, Number.NaN, -1e9, 'x'.repeat(5000), ['\n'], { toString: 1 }],
];

const one = <T>(random: Random, of: readonly T[]) => of[Math.floor(random() * of.length)]!;

/** Texts that are sent in place of a report; none is a valid one. Seeded. */
export function hostileLines(count: number, seed = 1): string[] {
  const random = seededRandom(seed);
  const names = Object.keys(SESSION_REPORT_FIELDS);
  const needed = names.filter((name) => !('optional' in SESSION_REPORT_FIELDS[name as keyof SessionReport]));
  const changed = (change: (report: Record<string, unknown>) => void) => {
    const report: Record<string, unknown> = { ...testReport() };
    change(report);
    // JSON has no numbers beyond the finite ones, but texts that parse to them.
    return JSON.stringify(report, (_, value) => (value === Number.POSITIVE_INFINITY ? '%' : value)).replace(
      '"%"',
      '1e999',
    );
  };
  const kinds: (() => string)[] = [
    () => changed((report) => Object.assign(report, { [one(random, names)]: one(random, FOREIGN) })),
    () => changed((report) => void delete report[one(random, needed)]),
    () => changed((report) => Object.assign(report, { version: one(random, [0, 2, '1', 1.5, -1, 1e9]) })),
    () =>
      changed((report) => Object.assign(report, { [one(random, ['ip', 'userId', 'constructor', 'a'.repeat(99)])]: 1 })),
    () => changed((report) => Object.assign(report, { wastedBits: (report['requestedBits'] as number) * 2 })),
    () => changed((report) => Object.assign(report, { throughput10Bps: 5e10 })),
    () =>
      changed(
        (report) => void delete report[one(random, ['arm', 'cluster', 'qoe', 'below50Share', 'throughput90Bps'])],
      ),
    () => `{"__proto__":{"version":1},${changed(() => {}).slice(1)}`,
    () => changed(() => {}).slice(0, Math.floor(random() * 400)),
    () =>
      one(random, [
        '',
        ' ',
        'null',
        '1',
        '"text"',
        '[]',
        '{}',
        '[{}]',
        '{"version":1',
        'NaN',
        '\u0000',
        '{'.repeat(3000),
      ]),
    () => String.fromCharCode(...Array.from({ length: 200 }, () => Math.floor(random() * 256))),
    () => '['.repeat(Math.floor(random() * 4000)),
  ];
  return Array.from({ length: count }, () => one(random, kinds)());
}
