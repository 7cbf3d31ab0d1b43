import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { PlayerState } from '../abr/controller.ts';
import { planOf } from '../abr/mpc-l/evaluations.fixture.ts';
import { createMpcL } from '../abr/mpc-l/mpc-l.ts';
import type { MpcLOptions } from '../abr/mpc-l/options.ts';
import { qoeWeights } from '../abr/qoe/qoe.ts';
import { quantilesOf } from '../abr/random-states.fixture.ts';

const ladderBps = [3e6, 8e6, 15e6];
const player = { nowSeconds: 100, started: true, playbackRate: 1, isPaused: false };
const buffer = { bufferLevelSeconds: 4, bufferCapSeconds: 12 };
const media = { segmentSeconds: 4, segmentIndex: 25, segmentsRemaining: 20, ladderBps };
const upcoming = { upcomingSizesBits: [ladderBps.map((bps) => 4 * bps)], previousBitrateBps: 8e6, downloads: [] };
const weights = qoeWeights('linear', ladderBps);
const state: PlayerState = { ...player, ...buffer, ...media, ...upcoming, weights };
const quantilesBps = [
  [5e6, 12e6, 24e6],
  [8e6, 12e6, 18e6],
];
const forecast = quantilesOf(12e6, { source: 'example', stepEndsSeconds: [4, 20], quantilesBps });
/** Four futures fit on a page. At risk 0, a score is a mean. Without abandonment, a row is a download. */
const tuning = { futures: 4, outagesPerSecond: 0 };
const options: MpcLOptions = { risk: 0, watchSeconds: Number.POSITIVE_INFINITY, abandon: false, tuning };

const LATENCY_SECONDS = 0.05;

test('the worked example of abr/mpc-l/README.md is what the code computes', () => {
  const { futures, ranks, later, outcomes } = planOf(state, forecast, options);
  const playable = 4 - 0.12;
  const capacity = (f: number, seconds: number) => (1e-3 / futures.transferSeconds(f, seconds, 1e3)).toFixed(1);
  const lines = [
    '| future | Mbit/s until 4 s | Mbit/s from 4 s on |',
    '| ------ | ---------------- | ------------------ |',
    ...[0, 1, 2, 3].map((f) => `| ${f + 1} | ${capacity(f, 0)} | ${capacity(f, 10)} |`),
    '',
    '| Mbit/s | future | download s | stall s | this segment | buffer s | rank | later segments | sum |',
    '| ------ | ------ | ---------- | ------- | ------------ | -------- | ---- | -------------- | --- |',
  ];
  const summary = [
    '| Mbit/s | score (mean of the sums) | expected QoE | expected stall s |',
    '| ------ | ------------------------ | ------------ | ---------------- |',
  ];
  ladderBps.forEach((bps, r) => {
    const mbps = bps / 1e6;
    let sum = 0;
    for (let f = 0; f < 4; f++) {
      const download = LATENCY_SECONDS + futures.transferSeconds(f, LATENCY_SECONDS, 4 * bps);
      const stall = Math.max(0, download - playable);
      const segment = mbps - Math.abs(mbps - 8) - 15 * stall;
      const buffer = 4 - Math.min(download, playable) + 4;
      const rank = futures.binAt(f, download, ranks.bins);
      const rest = later.at(buffer, rank, r);
      sum += segment + rest;
      const cells = [mbps, f + 1, download.toFixed(2), stall.toFixed(2), segment.toFixed(2), buffer.toFixed(2), rank];
      lines.push(`| ${[...cells, rest.toFixed(1), (segment + rest).toFixed(1)].join(' | ')} |`);
    }
    const { score, qoe, stallSeconds } = outcomes.evaluate(outcomes.newRequest(r));
    expect(score).toBeCloseTo(sum / 4, 9);
    summary.push(`| ${[mbps, score.toFixed(1), qoe.toFixed(2), stallSeconds.toFixed(2)].join(' | ')} |`);
  });
  const { representation, reason } = createMpcL(options).decide(state, forecast);
  const decision = `    ${ladderBps[representation]! / 1e6} Mbit/s, reason "${reason}"`;
  // A formatter may pad tables and wrap lines, and text may be between the tables.
  const unpadded = (text: string) => text.replace(/\s+/g, ' ').replace(/-+/g, '-');
  const readme = unpadded(readFileSync(new URL('../abr/mpc-l/README.md', import.meta.url), 'utf8'));
  for (const line of [...lines, ...summary, decision]) expect(readme).toContain(unpadded(line));
});
