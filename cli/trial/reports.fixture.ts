/** For tests: valid reports of a trial, and what hostile senders make of them. */

import { normal, type Random } from '../../abr/random.ts';
import type { SessionReport } from '../../abr/session-report.ts';

/** A valid report of the trial `pilot`. In the arm `ours`, QoE is higher by 2 and stalls are half as long. */
export function drawReport(number: number, random: Random): SessionReport {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const isOurs = random() < 0.5;
  const live = random() < 0.1;
  const started = random() < 0.98;
  const stalls = random() < 0.3 ? 1 : 0;
  const watchedSeconds = started ? Math.round(-6e5 * Math.log(1 - random())) / 1000 : 0;
  const qoe = 10 + (isOurs ? 2 : 0) + 4 * normal(random);
  const rhythm = random() < 0.3 ? undefined : random() < 0.5;
  return {
    version: 1,
    id: (number + 2 ** 40).toString(16).padStart(16, '0'),
    day: `2026-03-${String(1 + Math.floor(random() * 14)).padStart(2, '0')}`,
    leoAbr: '0.1.0',
    player: pick(['dash.js', 'hls.js', 'shaka']),
    playerVersion: '5.2.1',
    browser: pick(['chromium', 'firefox', 'webkit']),
    live,
    controller: isOurs ? 'mpc-l' : 'player',
    ...{
      trial: 'pilot',
      arm: isOurs ? 'ours' : 'own',
      armShare: 0.5,
      unit: 'viewer',
      cluster: Math.floor(random() * 1000),
    },
    ended: 'page',
    started,
    startupSeconds: Math.round(3000 * random()) / 1000,
    watchedSeconds,
    stallSeconds: stalls * (isOurs ? 2 : 4) * random(),
    stallCount: stalls,
    switches: 3,
    ...(started && {
      ...{ meanBitrateBps: 1e7 + Math.round(1e6 * random()), topBitrateBps: 3e7 },
      ...{ qoe, qoeFirst30Seconds: qoe - 1, qoeFirst60Seconds: qoe - 0.5 },
      ...(live && { latencySeconds: 3 + random(), offRateShare: 0.1 }),
    }),
    requestedBits: 1e9,
    wastedBits: 1e6,
    ...(rhythm !== undefined && { rhythm }),
    ...(random() < 0.01 && { faults: 'forecaster-failed,late' }),
  };
}

const HOSTILE = [
  ...[1e300, -1, 0.5, 0, 2, 1e15, '', '1', 'true', 'x'.repeat(5000), "'; drop table reports; --", 'NaN', '\u0000'],
  ...[true, false, [], {}, ['a', 'a'], ['late', 'late'], [1], { a: { b: [] } }, 'dash.js', '2026-13-01', '2026-02-31'],
  ...['0123456789abcdef', '0123456789ABCDEF', 'player', '\\', '"', '1,2,,3', '../../etc/passwd'],
];
const LINES = [
  ...['', '{', '}', '[', 'null', '1', '"report"', '{"version":1', '{}', '[]', '{"version":1}', 'NaN', '{"id":NaN}'],
  ...['{"version":1,', '"id":"x"}', '\u0001', '{"a":'.repeat(3000), '['.repeat(3000), `{"id":"${'y'.repeat(70_000)}"}`],
];

/** A line that a hostile sender makes of a valid report. */
export function hostileLine(report: SessionReport, random: Random): string {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const text = JSON.stringify(report);
  const field = pick(Object.keys(report));
  switch (Math.floor(random() * 6)) {
    case 0:
      return pick(LINES);
    case 1:
      return text.slice(0, Math.floor(random() * text.length));
    case 2:
      return JSON.stringify({ ...report, [field]: undefined });
    case 3:
      // JSON has no such number.
      return text.replace(/("watchedSeconds":)[\d.]+/, pick(['$1NaN', '$1Infinity', '$1-Infinity', '$11e999']));
    default:
      return JSON.stringify({ ...report, [field]: pick(HOSTILE) });
  }
}
