/**
 * Golden sessions: every algorithm on a small synthetic trace, segment by segment. A change of behaviour is a diff of
 * `fixtures/golden-sessions.json`, which must be reviewed. To rewrite the file:
 *
 *     WRITE_GOLDEN=1 npm run unit -- replay/simulator/golden-sessions
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ALGORITHM_NAMES } from '../../abr/index.ts';
import { readTraceFile } from '../formats/trace-files.ts';
import type { SessionResult } from '../results.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import { sessionPlayer } from './threads/run-sessions.ts';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const GOLDEN_FILE = fixture('golden-sessions.json');
const SCENARIOS = ['uhd-8', 'pensieve-60'];

const [trace] = readTraceFile(fixture('golden.csv'));

function play(scenarioName: string, algorithm: string): SessionResult {
  const scenario = resolveScenario(scenarioNamed(scenarioName));
  const { segmentCount } = scenario;
  const start = { trace: trace!, startSeconds: 0, segmentCount, seed: 1 };
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

const names = SCENARIOS.flatMap((scenario) =>
  [...ALGORITHM_NAMES, 'bola-e', 'dynamic'].map((algorithm) => `${scenario} ${algorithm}`),
);
const played = () => Object.fromEntries(names.map((name) => [name, play(...(name.split(' ') as [string, string]))]));

if (process.env['WRITE_GOLDEN'] === '1') writeFileSync(GOLDEN_FILE, goldenText(played()));
const golden = JSON.parse(readFileSync(GOLDEN_FILE, 'utf8'));

test('golden sessions exist for all algorithms (for a new one see WRITE_GOLDEN=1 above)', () => {
  expect(Object.keys(golden)).toEqual(names);
});

test.each(names)('%s', (name) => {
  const { segments, ...totals } = play(...(name.split(' ') as [string, string]));
  expect({ totals, segments }).toEqual(golden[name]);
});
