import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { seededRandom } from '../../abr/random.ts';
import { SHIPPED_FILE } from '../../predictor/forecast/shipped-file.fixture.ts';
import type { Results, SummaryRow } from '../../replay/results.ts';
import { run } from '../run.fixture.ts';
import type { Evaluation } from './evaluate.ts';

let folder: string;
const at = (...path: string[]) => join(folder, ...path);

const evaluate = (...args: string[]) =>
  run(['evaluate', '--traces', at('traces'), '--out', at('scores.json'), ...args]);

let ended: Awaited<ReturnType<typeof run>>;
let evaluation: Evaluation;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-evaluate-test-'));
  mkdirSync(at('traces'));
  const random = seededRandom(4);
  for (const group of ['a', 'b']) {
    const rates = Array.from({ length: 240 }, (_, i) => `${i},${(60 * Math.exp(random() - 0.5)).toFixed(3)},,`);
    writeFileSync(at('traces', `${group}.csv`), `time_s,throughput_mbps,rtt_ms,loss\n${rates.join('\n')}\n`);
    const sidecar = { dataset: 'own', recording_group: group, epoch_phase_s: 3 };
    writeFileSync(at('traces', `${group}.json`), JSON.stringify(sidecar));
  }
  // A model that differs from the shipped one: it ignores the second feature.
  const [first, ...later] = SHIPPED_FILE.layers;
  const { weights, scales } = first!;
  const outputs = weights.length / scales.length;
  const ignoring = weights.slice(0, outputs) + 'f'.repeat(outputs) + weights.slice(2 * outputs);
  const layers = [{ weights: ignoring, scales }, ...later];
  writeFileSync(at('model.json'), JSON.stringify({ ...SHIPPED_FILE, layers }));
  writeFileSync(at('folds.json'), JSON.stringify({ a: 'model.json', b: 'model.json' }));
  ended = await evaluate('--fold-models', at('folds.json'));
  evaluation = JSON.parse(readFileSync(at('scores.json'), 'utf8'));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('scores forecasts per data set and pooled', () => {
  const { status, stdout, stderr } = ended;
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('scores.json') });
  expect(evaluation).toMatchObject({ scenario: 'uhd-8', starts: 'every:61', levels: SHIPPED_FILE.levels });
  expect(Object.keys(evaluation.forecasts)).toEqual(['own', 'pooled']);
  const own = evaluation.forecasts['own']!;
  expect(own).toEqual(evaluation.forecasts['pooled']);
  expect(own.forecasts).toBeGreaterThan(200);
  for (const losses of Object.values(own.pinball)) {
    expect(losses).toHaveLength(evaluation.stepEndsSeconds.length);
    for (const loss of losses) expect(loss).toBeGreaterThan(0);
  }
  // Both models are scored on the same moments and differ.
  expect(new Set(Object.values(own.pinball).map(String)).size).toBe(2);
  expect(stdout).not.toMatch(/NaN|undefined/);
  expect(stdout).toContain('| pinball loss, model against shipped model |');
});

test('the QoE with each model is that of simulate', async () => {
  const folds = ['--fold-models', at('folds.json')];
  const [model, shipped] = evaluation.summary as [SummaryRow, SummaryRow];
  for (const [row, flags] of [[model, folds] as const, [shipped, []] as const]) {
    const play = ['simulate', '--traces', at('traces'), '--starts', 'every:61', '--scenario', 'uhd-8'];
    const played = await run([...play, '--algorithms', 'mpc-l', '--baseline', 'mpc-l', ...flags]);
    const expected = (JSON.parse(played.stdout) as Results).summary[0]!;
    expect({ ...row, algorithm: 'mpc-l', vsBaseline: null }).toEqual(expected);
    expect(ended.stdout).toContain(`| own | ${row.algorithm} | ${row.sessions} | ${row.qoeMean.toFixed(2)} | `);
  }
  expect(model.vsBaseline!.qoeDiff.value).toBeCloseTo(model.qoeMean - shipped.qoeMean, 9);
  expect(model.qoeMean).not.toBe(shipped.qoeMean);
}, 60_000);

test.each<[string[], string]>([
  [['--scenario', 'uhd-9'], 'uhd-9'],
  [['--scenario', 'live-hd-1'], '--scenario: expected one on demand; for live streams use simulate --fold-models'],
  [['--fold-models', 'half.json'], 'half.json: b: expected a model for each recording group'],
])('rejects %j with status 2', async ([flag, value], message) => {
  writeFileSync(at('half.json'), JSON.stringify({ a: 'model.json' }));
  const flags = { '--fold-models': at('folds.json'), [flag!]: value!.includes('.') ? at(value!) : value! };
  const { status, stderr } = await evaluate(...Object.entries(flags).flat());
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
});
