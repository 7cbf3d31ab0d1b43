import { expect, test } from '@jest/globals';
import { modelledQuality } from '../abr/qoe/quality.ts';
import { ladderQualities, objectiveWeights, type Pictures, weightsOfPictures } from './state.ts';

const rung = (height: number, bitrateBps: number, score?: number) => ({
  ...{ id: String(height), bitrateBps, width: (height * 16) / 9, height },
  ...(score !== undefined && { score }),
});
const ladder = [rung(360, 8e5), rung(720, 25e5), rung(1080, 5e6)];
const modelled = ladder.map((one) => modelledQuality(one));

test('qualities are modelled at the size of the picture on screen', () => {
  expect(ladderQualities(ladder, undefined)).toEqual(modelled);
  expect(ladderQualities(ladder, 540)).toEqual(ladder.map((one) => modelledQuality({ ...one, displayedLines: 540 })));
});

test('a SCORE spreads them between the lowest and the highest', () => {
  const scored = [rung(360, 8e5, 1), rung(720, 25e5, 4), rung(1080, 5e6, 5)];
  const [low, , high] = modelled as [number, number, number];
  expect(ladderQualities(scored, undefined)).toEqual([low, low + 0.75 * (high - low), high]);
});

test('ranks change their places; where one representation has none, nothing changes', () => {
  const ranked = [rung(360, 8e5, -3), rung(720, 25e5, -1), rung(1080, 5e6, -2)];
  expect(ladderQualities(ranked, undefined)).toEqual([modelled[0], modelled[2], modelled[1]]);
  expect(ladderQualities([rung(360, 8e5), ...ranked.slice(1)], undefined)).toEqual(modelled);
});

test('the objectives: perceived quality and the price of bits, Mbit/s, their logarithm', () => {
  const pictures = { ladder, displayedLines: undefined, live: undefined };
  const perceived = objectiveWeights('perceived', pictures, 2);
  expect(perceived.quality(25e5)).toBeCloseTo(modelled[1]!, 9);
  expect(perceived.pricePerMbps).toBe(2);
  // Of a bitrate that is not in the ladder.
  expect(perceived.quality(1e6)).toBeCloseTo(modelledQuality({ bitrateBps: 1e6 }), 9);
  expect(objectiveWeights('linear', pictures)).toMatchObject({ mu: 5, lambda: 1 });
  expect(objectiveWeights('log', pictures).quality(8e5)).toBe(0);
  const audio = [64e3, 256e3].map((bitrateBps) => ({ id: String(bitrateBps), bitrateBps }));
  expect(objectiveWeights('perceived', { ladder: audio, live: undefined })).toMatchObject({ mu: 0.256, lambda: 1 });
});

test.each<[string, object]>([
  ['size', { displayedLines: 1080 }],
  ['price of falls, live', { live: {} }],
  ['number', { ladder: ladder.slice(1) }],
  ['codec', { ladder: ladder.map((one) => ({ ...one, codec: 'av01' })) }],
])('weights are computed only when the pictures change: their %s', (_, change) => {
  const weightsOf = weightsOfPictures('perceived', 0);
  const pictures: Pictures = { ladder, displayedLines: 540, live: undefined };
  const known = weightsOf(pictures);
  expect(weightsOf({ ...pictures, ladder: ladder.map((one) => ({ ...one })) })).toBe(known);
  expect(weightsOf({ ...pictures, ...change })).not.toBe(known);
});
