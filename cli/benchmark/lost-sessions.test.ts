import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { testScenario, testSession, testTrace } from '../../replay/evaluation/test-sessions.fixture.ts';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_REJECTED, ExitWith } from '../shared/exit-status.ts';
import type { Benchmark } from './benchmark.ts';
import { finishBenchmark } from './finish.ts';

const at = temporaryFolder('file');

test('a session that was rejected at every attempt is named, and the table has the other places', () => {
  const planned = (name: string, algorithm: string) => ({
    ...{ trace: testTrace(name, 60), startSeconds: 0, segmentCount: 1, algorithm, seed: 7 },
  });
  const sessions = ['hard', 'easy', 'easier'].flatMap((name) => [planned(name, 'mpc-d'), planned(name, 'dynamic')]);
  const played = sessions
    .filter(({ trace, algorithm }) => trace.name !== 'hard' || algorithm !== 'dynamic')
    .map(({ trace, algorithm }) =>
      testSession({ trace: trace.name, algorithm, qoeLinear: trace.name === 'hard' ? 1 : 9 }),
    );
  const benchmark = {
    ...{ out: at('out.json'), done: played.slice(0, 2), plan: { sessions, leftOut: [] }, perLine: 1 },
    ...{ algorithms: ['mpc-d', 'dynamic'], scenario: testScenario() },
    tool: { name: 'leo-abr', version: '0', commit: null, command: 'bench', seed: 7, baseline: 'mpc-d' },
  } as unknown as Benchmark;
  let said = '';
  const io = {
    stdout: { write: () => true },
    stderr: { write: (text: string) => (said += text) },
  } as unknown as CommandIo;
  const missing = { why: '1 sessions were rejected at every attempt', status: EXIT_REJECTED, lost: [sessions[1]!] };
  expect(() => finishBenchmark(benchmark, played.slice(2), io, missing)).toThrow(ExitWith);
  expect(said).toContain('the table lacks, for every algorithm, the places of dynamic on hard at 0 s\n');
  // Each algorithm has two sessions. The hard one, which would lower the mean of mpc-d alone, is left out.
  expect(said).toMatch(/^mpc-d +2 +4\.5/m);
  expect(said).toMatch(/^dynamic +2 +4\.5/m);
  expect(JSON.parse(readFileSync(at('out.json'), 'utf8')).sessions).toHaveLength(5);
});
