/** The sources of segment sizes, and the observations of a forecaster. */

import { expect, test } from './playback-test.ts';

test('sizes come from sizes.json or the index of a SegmentBase stream, else they are learnt', async ({
  labPage,
  stream,
}) => {
  const common = { segmentCount: 6, sizeSpread: 0.4 };
  const [listed, indexed, unknown] = [
    stream(common),
    stream({ ...common, media: { addressing: 'base' } }),
    stream(common),
  ];
  const seen = await labPage.evaluate(
    async ([listed, indexed, unknown]) => {
      // The file may arrive after the first decision: only later ones are checked.
      const labs = [
        window.lab.start({ manifest: `${listed}manifest.mpd`, options: { sizes: `${listed}sizes.json` } }),
        window.lab.start({ manifest: `${indexed}manifest.mpd` }),
        window.lab.start({ manifest: `${unknown}manifest.mpd` }),
      ];
      for (const lab of labs) await window.lab.until('all decisions', ({ decisions }) => decisions.length === 6, lab);
      const sizes = await (await fetch(`${listed}sizes.json`)).json();
      return {
        truth: Object.values(sizes.representations as Record<string, number[]>),
        sizes: labs.map(({ decisions }) => decisions.map(({ state }) => state.upcomingSizesBits)),
        downloads: labs[2]!.decisions.at(-1)!.state.downloads,
      };
    },
    [listed, indexed, unknown],
  );
  /** True sizes in bits from segment `from` on. */
  const truth = (from: number) =>
    Array.from({ length: 6 - from }, (_, k) => seen.truth.map((bytes) => bytes[from + k]! * 8));
  const [fromFile, fromIndex, learnt] = seen.sizes as [number[][][], number[][][], number[][][]];
  for (let i = 1; i < 6; i++) expect(fromFile[i]).toEqual(truth(i));
  for (let i = 0; i < 6; i++) expect(fromIndex[i]).toEqual(truth(i));
  // First bitrate x duration, then with the learnt ratio.
  expect(learnt[0]![0]![0]).toBe(300e3);
  const ratios = seen.downloads.map(({ sizeBits, bitrateBps }) => sizeBits / bitrateBps);
  const last = learnt[5]![0]![0]! / 300e3;
  expect(last).not.toBe(1);
  expect(last).toBeGreaterThanOrEqual(Math.min(...ratios));
  expect(last).toBeLessThanOrEqual(Math.max(...ratios));
});

test('a forecaster gets throughput, idle gaps and latency in order, and decisions use its forecast', async ({
  onStream,
}) => {
  const seen = await onStream(
    { ladderBps: [1e6, 2e6, 4e6], segmentSeconds: 2, segmentCount: 6, link: [[60, 6e6]] },
    async (manifest) => {
      type Options = NonNullable<NonNullable<Parameters<typeof window.lab.start>[0]>['options']>;
      type Forecaster = NonNullable<Options['forecasters']>[number];
      const observations: Parameters<Forecaster['observe']>[0][] = [];
      const forecaster: Forecaster = {
        name: 'steady',
        start() {},
        observe: (observation) => observations.push({ ...observation }),
        latest: (nowSeconds) => ({
          issuedAtMs: nowSeconds * 1000,
          source: 'steady',
          stepEndsSeconds: [1],
          levels: [0.5],
          quantilesBps: [[4e6]],
          rankCorrelation: 0,
          handovers: [],
        }),
      };
      const { decisions } = window.lab.start({
        manifest,
        options: { forecasters: [forecaster] },
        settings: { streaming: { buffer: { bufferTimeDefault: 5, bufferTimeAtTopQuality: 5 } } },
      });
      await window.lab.until('the last decision', () => decisions.length === 6);
      return {
        observations,
        sources: decisions.map(({ forecast }) => forecast?.source),
        bits: decisions.at(-1)!.state.downloads.reduce((sum, { receivedBits }) => sum + receivedBits, 0),
      };
    },
  );
  expect(new Set(seen.sources)).toEqual(new Set(['steady']));
  const kinds = new Set(seen.observations.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(['throughput', 'idle', 'request-latency']));
  let end = 0;
  let bits = 0;
  const rates: number[] = [];
  const latencies: number[] = [];
  for (const observation of seen.observations) {
    if (observation.kind === 'request-latency') {
      expect(observation.latencySeconds).toBeGreaterThan(0.015);
      latencies.push(observation.latencySeconds);
      continue;
    }
    expect(observation.startSeconds).toBeGreaterThanOrEqual(end - 1e-9);
    end = observation.endSeconds;
    if (observation.kind !== 'throughput') continue;
    expect(observation.endSeconds - observation.startSeconds).toBeLessThanOrEqual(0.1 + 1e-6);
    bits += observation.bits;
    const seconds = observation.endSeconds - observation.startSeconds;
    if (seconds > 0.05) rates.push(observation.bits / seconds);
  }
  // All bits except data that arrived at once, and the last segment.
  expect(bits).toBeGreaterThan(0.8 * seen.bits);
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  expect(median(latencies)).toBeLessThan(0.5);
  expect(median(rates)).toBeGreaterThan(0.85 * 6e6);
  expect(median(rates)).toBeLessThan(1.15 * 6e6);
});
