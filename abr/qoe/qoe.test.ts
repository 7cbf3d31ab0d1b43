import { expect, test } from '@jest/globals';
import { between, forAll, whole } from '../property.fixture.ts';
import { PERCEIVED_PRICES, perceivedWeights } from './perceived-qoe.ts';
import { beginShare, stallCost } from './qoe.ts';
import { type Encoding, modelledQuality, usualDisplayedLines } from './quality.ts';
import { freezeCounts, freezesOf, perceivedQoe } from './session-qoe.ts';

const SEED = { seed: 54 };
const RATES = between(5e4, 2e8);
const LINES = whole(120, 4320);
const sized = (height: number): Encoding => ({ bitrateBps: 2e6, width: (height * 16) / 9, height });

test('quality is within 0 and 100, rises with the bitrate by ever less, and flattens above 8 Mbit/s', () => {
  for (const more of [{}, sized(720), { displayedLines: 360 }, { displayedLines: 2160 }, { codec: 'av01.0.05M.08' }]) {
    const of = (bitrateBps: number) => modelledQuality({ ...more, bitrateBps });
    forAll([RATES, between(1.001, 3)], SEED, (bps, factor) => {
      const step = bps * (factor - 1);
      const [low, middle, high] = [of(bps), of(bps + step), of(bps + 2 * step)];
      expect(low).toBeGreaterThan(0);
      expect(high).toBeLessThanOrEqual(100);
      expect(middle).toBeGreaterThanOrEqual(low);
      // Near 100 differences are rounding errors.
      expect(high - middle).toBeLessThanOrEqual(middle - low + 1e-9);
    });
  }
  expect(modelledQuality({ bitrateBps: 0.3e6 })).toBeLessThan(40);
  expect(modelledQuality({ bitrateBps: 3.5e6 })).toBeGreaterThan(75);
  expect(modelledQuality({ bitrateBps: 120e6 }) - modelledQuality({ bitrateBps: 8e6 })).toBeLessThan(8);
});

test('a ladder to 2160 lines, or above 16 Mbit/s, is seen on a display of 2160, where quality rises up to the top', () => {
  const rates = [1.5, 3, 8, 15, 30, 60, 120].map((mbps) => ({ bitrateBps: mbps * 1e6 }));
  const large = rates.map((encoding) => modelledQuality({ ...encoding, displayedLines: usualDisplayedLines(rates) }));
  expect(large[0]).toBeLessThan(modelledQuality(rates[0]!) - 5);
  const rises = large.slice(1).map((quality, i) => quality - large[i]!);
  for (const rise of rises) expect(rise).toBeGreaterThan(0.3);
  expect(rises.at(-1)).toBeLessThan(2);
  expect(usualDisplayedLines(rates)).toBe(2160);
  expect(usualDisplayedLines(rates.slice(0, 4))).toBe(1080);
  expect(usualDisplayedLines([sized(480), sized(2160)])).toBe(2160);
  expect(usualDisplayedLines([{ ...sized(1440), bitrateBps: 30e6 }])).toBe(1080);
});

test('quality rises with lines up to the displayed ones, with pictures per second up to 60, and on a smaller display', () => {
  forAll([LINES, LINES], SEED, (a, b) => {
    const [fewer, more] = [Math.min(a, b), Math.max(a, b)];
    expect(modelledQuality(sized(fewer))).toBeLessThanOrEqual(modelledQuality(sized(more)));
    const shown = (lines: number) => modelledQuality({ ...sized(720), displayedLines: lines });
    expect(shown(more)).toBeLessThanOrEqual(shown(fewer));
  });
  const onPhone = (height: number) => modelledQuality({ ...sized(height), displayedLines: 360 });
  expect(onPhone(1080)).toBeCloseTo(onPhone(360), 9);
  const at = (frameRate: number) => modelledQuality({ bitrateBps: 2e6, frameRate });
  expect(at(10)).toBeLessThan(at(24));
  expect(at(30)).toBeLessThan(at(60));
  expect(at(120)).toBe(at(60));
});

test('other codecs need fewer bits; pictures on their side count like upright ones, 0 as unknown', () => {
  const needs = { 'hvc1.1.6.L93.B0': 0.65, 'vp09.00.10.08': 0.7, 'av01.0.05M.08': 0.5, 'avc1.640028': 1, theora: 1 };
  for (const [codec, share] of Object.entries(needs)) {
    const quality = modelledQuality({ ...sized(720), bitrateBps: share * 2e6, codec });
    expect(quality).toBeCloseTo(modelledQuality({ ...sized(720), bitrateBps: 2e6 }), 9);
  }
  const upright = { bitrateBps: 2e6, width: 720, height: 1280 };
  expect(modelledQuality(upright)).toBe(modelledQuality({ ...upright, width: 1280, height: 720 }));
  const known = { bitrateBps: 2e6 };
  expect(modelledQuality({ ...known, width: 0, height: 0, frameRate: 0 })).toBe(modelledQuality(known));
  expect(modelledQuality({ ...known, frameRate: Number.NaN })).toBe(modelledQuality(known));
});

const SESSION = {
  ...{ qualities: [60, 80, 80, 40], segmentSeconds: 4, startupSeconds: 1 },
  stalls: [{ startSeconds: 5, endSeconds: 7 }],
};

test('perceived QoE of an undisturbed session is its quality, whatever the segments; what never arrived counts as 0', () => {
  const steady = { startupSeconds: 0, stalls: [] };
  forAll([between(0, 100), between(0.5, 10), whole(1, 50)], SEED, (quality, segmentSeconds, count) => {
    const session = { ...steady, qualities: Array(count).fill(quality), segmentSeconds };
    expect(perceivedQoe(session)).toBeCloseTo(quality, 9);
    expect(perceivedQoe({ ...session, segmentCount: 2 * count })).toBeCloseTo(quality / 2, 9);
  });
});

test('perceived QoE falls with each price of a disturbance', () => {
  for (const name of Object.keys(PERCEIVED_PRICES) as (keyof typeof PERCEIVED_PRICES)[]) {
    const prices = { ...PERCEIVED_PRICES, [name]: PERCEIVED_PRICES[name] + 1 };
    expect(perceivedQoe(SESSION, prices)).toBeLessThan(perceivedQoe(SESSION));
  }
  // By hand: 65 of quality; 18.8 + 2 x 14.8 of the stall; 3.59 of startup; 40 x 0.922 of the fall.
  expect(perceivedQoe(SESSION)).toBeCloseTo(65 - (18.8 + 29.6 + 3.59 + 36.88) / 4, 9);
});

/** Stalls of `seconds`, each `apart` after the end of the one before. */
const slices = (count: number, seconds: number, apart: number) =>
  Array.from({ length: count }, (_, i) => {
    const startSeconds = 10 + i * (seconds + apart);
    return { startSeconds, endSeconds: startSeconds + seconds };
  });

const costOf = (stalls: ReturnType<typeof slices>) => {
  const session = { qualities: Array(30).fill(100), segmentSeconds: 4, startupSeconds: 0 };
  return 30 * (100 - perceivedQoe({ ...session, stalls }));
};

test('the begin of a freeze costs nothing up to 0.1 s and its whole price from 0.4 s on, and rises in between', () => {
  expect([0, 0.05, 0.1, 0.25, 0.4, 7].map(beginShare)).toEqual([0, 0, 0, expect.closeTo(0.5, 9), 1, 1]);
  forAll([between(0, 1), between(0, 1)], {}, (a, b) => {
    expect(beginShare(Math.max(a, b))).toBeGreaterThanOrEqual(beginShare(Math.min(a, b)));
  });
});

test('a plan and the figures price a freeze alike', () => {
  forAll([between(0, 3)], {}, (seconds) => {
    expect(costOf(slices(1, seconds, 0))).toBeCloseTo(
      stallCost(
        perceivedWeights(() => 0),
        seconds,
      ),
      9,
    );
  });
});

test('nothing hides in slices: ten freezes of 0.09 s, 0.5 s apart, cost as much as one of 0.9 s', () => {
  expect(costOf(slices(10, 0.09, 0.5))).toBeCloseTo(costOf(slices(1, 0.9, 0)), 9);
  expect(costOf(slices(10, 0.09, 3))).toBeCloseTo(0.9 * PERCEIVED_PRICES.stallSecond, 9);
  expect(freezesOf(slices(3, 1, 2))).toEqual([3]);
  expect(freezesOf(slices(3, 1, 2.1))).toEqual([1, 1, 1].map((seconds) => expect.closeTo(seconds, 9)));
  expect(freezeCounts([...slices(4, 0.05, 0.5), ...slices(2, 0.05, 5).map(later)])).toEqual({
    freezeCount: 1,
    shortFreezeCount: 2,
  });
});

const later = ({ startSeconds, endSeconds }: { startSeconds: number; endSeconds: number }) => ({
  startSeconds: startSeconds + 50,
  endSeconds: endSeconds + 50,
});
