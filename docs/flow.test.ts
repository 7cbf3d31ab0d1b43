/**
 * How much code a reader crosses from a received byte to the next decision: dash.js on demand plays one segment under
 * V8's coverage. `npm run flow` prints the files in which a function ran, with their lines.
 */

import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { useManualClock, wait } from '../session/scripted.fixture.ts';
import { attached } from '../src/dash/fake-player.fixture.ts';

const MOST_FILES = 27;
const MOST_LINES = 5565;
const ROOT = fileURLToPath(new URL('..', import.meta.url));

useManualClock();

/** The files of the plugin in which a function runs during `action`, with all their lines. */
function filesRun(action: () => void): [file: string, lines: number][] {
  const session = new Session();
  session.connect();
  let result: Profiler.ScriptCoverage[] = [];
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  action();
  session.post('Profiler.takePreciseCoverage', (_, taken) => {
    result = taken.result;
  });
  session.disconnect();
  const run = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0));
  const paths = run.map(({ url }) => url.replace('file://', '')).filter((path) => path.startsWith(ROOT));
  return [...new Set(paths)]
    .filter(
      (path) => /^(abr|predictor|session|src)\//.test(path.slice(ROOT.length)) && !/\.(test|fixture)\.ts$/.test(path),
    )
    .map((path): [string, number] => [path.slice(ROOT.length), readFileSync(path, 'utf8').split('\n').length - 1])
    .sort(([a], [b]) => a.localeCompare(b));
}

test('from a received byte to the next decision, few files run', () => {
  const { player, decisions } = attached();
  player.plays();
  for (let index = 0; index < 3; index++) {
    player.ask();
    player.download(index, 6e6, 2);
  }
  player.ask();
  const sent = player.send(3);
  wait(0.5);
  sent.arrived(1e6);
  const decided = decisions.length;
  const files = filesRun(() => {
    wait(0.5);
    sent.arrived(3e6);
    wait(1);
    sent.completed(6e6);
    player.appended(3);
    player.ask();
  });
  expect(decisions).toHaveLength(decided + 1);
  const lines = files.reduce((sum, [, count]) => sum + count, 0);
  if (process.env['FLOW']) {
    const rows = files.map(([file, count]) => `${String(count).padStart(5)} ${file}`);
    process.stdout.write(`${rows.join('\n')}\n${files.length} files, ${lines} lines\n`);
  }
  expect(files.length).toBeGreaterThan(5);
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  expect(lines).toBeLessThanOrEqual(MOST_LINES);
});
