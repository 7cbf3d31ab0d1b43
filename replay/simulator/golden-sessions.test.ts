/**
 * Golden sessions: every algorithm on a small synthetic trace, segment by segment. A change of behaviour is a diff of
 * `fixtures/golden-sessions.json`, which must be reviewed. `RENEW` rewrites the file.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { SIMULATED_NAMES } from '../algorithms.ts';
import { groupBy } from '../evaluation/group-by.ts';
import type { PlannedSession } from '../evaluation/plan/plan.ts';
import { readTraceFile } from '../formats/trace-files.ts';
import type { SegmentRow, SessionResult } from '../results.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import { sessionPlayer } from './threads/run-sessions.ts';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const GOLDEN_FILE = fixture('golden-sessions.json');
const RENEW = 'WRITE_GOLDEN=1 npm run unit -- replay/simulator/golden-sessions';
const SCENARIOS = ['uhd-8', 'pensieve-60'];

const [trace] = readTraceFile(fixture('golden.csv'));

function play(scenarioName: string, algorithm: string, other: Partial<PlannedSession> = {}): SessionResult {
  const scenario = resolveScenario(scenarioNamed(scenarioName));
  const { segmentCount } = scenario;
  const start = { trace: trace!, startSeconds: 0, segmentCount, seed: 1, ...other };
  return sessionPlayer({ scenario, controllers: new Map() })({ ...start, algorithm })[0]!;
}

/** A line per segment, so that diffs show which segment changed. */
function goldenText(sessions: Record<string, SessionResult>): string {
  const entries = Object.entries(sessions).map(([name, { segments, ...totals }]) => {
    const rows = segments.map((row) => `  ${JSON.stringify(row)}`).join(',\n');
    return `${JSON.stringify(name)}: {"totals": ${JSON.stringify(totals)},\n "segments": [\n${rows}\n ]}`;
  });
  return `{\n${entries.join(',\n')}\n}\n`;
}

const names = SCENARIOS.flatMap((scenario) => SIMULATED_NAMES.map((algorithm) => `${scenario} ${algorithm}`));
const played = () => Object.fromEntries(names.map((name) => [name, play(...(name.split(' ') as [string, string]))]));

if (process.env['WRITE_GOLDEN'] === '1') writeFileSync(GOLDEN_FILE, goldenText(played()));
const golden = JSON.parse(readFileSync(GOLDEN_FILE, 'utf8'));

/** One line where a session first differs, because the diff of all segments hides which sessions changed. */
function differenceOf(name: string): string[] {
  const { segments: now, ...totals } = play(...(name.split(' ') as [string, string]));
  const recorded: { totals: object; segments: SegmentRow[] } | undefined = golden[name];
  if (recorded === undefined) return [`${name}: not recorded`];
  const { segments: then } = recorded;
  const rows = Array.from({ length: Math.max(now.length, then.length) }, (_, i) => [then[i], now[i]] as const);
  const at = rows.findIndex(([one, other]) => JSON.stringify(one) !== JSON.stringify(other));
  const shown = (row?: SegmentRow) => (row ? `${row.bitrateBps / 1e6} Mbit/s (${row.reason})` : 'none');
  if (at >= 0) return [`${name}: segment ${at}: ${rows[at]!.map(shown).join(', now ')}`];
  return JSON.stringify(totals) === JSON.stringify(recorded.totals) ? [] : [`${name}: other totals`];
}

test('every session is the recorded one', () => {
  const unknown = Object.keys(golden).filter((name) => !names.includes(name));
  const lines = [...names.flatMap(differenceOf), ...unknown.map((name) => `${name}: no algorithm any more`)];
  if (lines.length > 0) throw new Error([...lines, `To accept them: ${RENEW}`].join('\n'));
});

test('no two names decide the same everywhere', () => {
  const algorithms = names.slice(0, names.length / SCENARIOS.length).map((name) => name.split(' ')[1]!);
  const link = (name: string) => readTraceFile(fixture(`../../traces/${name}.csv`))[0]!;
  const sessions: ((algorithm: string) => Pick<SessionResult, 'segments'>)[] = [
    ...SCENARIOS.map((scenario) => (algorithm: string) => golden[`${scenario} ${algorithm}`]),
    // The second decision shows the start's rules, a live stream rate, target and handovers.
    (algorithm) => play('pensieve-60', algorithm, { trace: link('driving-slow'), startSeconds: 100, segmentCount: 4 }),
    (algorithm) => play('live-hd-1', algorithm, { trace: link('stationary-live-handover'), segmentCount: 60 }),
    (algorithm) => play('live-hd-1', algorithm),
    // A link that tempts to abandon in a fuller buffer.
    (algorithm) => play('pensieve-60', algorithm, { trace: link('driving-slow'), startSeconds: 0, segmentCount: 40 }),
  ];
  let same = [algorithms];
  for (const session of sessions) {
    const choicesOf = (algorithm: string) =>
      JSON.stringify(session(algorithm).segments.map((row) => ({ ...row, reason: '' })));
    same = same.flatMap((group) => [...groupBy(group, choicesOf).values()]).filter(({ length }) => length > 1);
  }
  expect(same).toEqual([]);
});
