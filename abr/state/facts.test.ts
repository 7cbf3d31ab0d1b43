import { expect, test } from '@jest/globals';
import type { PlayerState } from '../controller.ts';
import { previousQuality, switchCosts, worthsAt } from './facts.ts';

const weights = { quality: (bps: number) => bps / 1e5, mu: 1, lambda: 1, rise: 0, pricePerMbps: 3 };
const state = { ladderBps: [1e6, 2e6], segmentSeconds: 4, upcomingSizesBits: [], weights } as unknown as PlayerState;

test('each segment costs the price of its real size, of its bitrate where no size is known, of 0 without a price', () => {
  expect(worthsAt(state, 0)).toEqual([10 - 3, 20 - 6]);
  // 2 s of 1 and of 4 Mbit/s, then 4 s of 0.5 and of 2 Mbit/s.
  const sized = {
    ...state,
    upcomingSizesBits: [
      [2e6, 8e6],
      [2e6, 8e6],
    ],
    upcomingSeconds: [2, 4],
    upcomingQualities: [
      [50, 90],
      [60, 80],
    ],
  };
  expect(worthsAt(sized, 0)).toEqual([50 - 3, 90 - 12]);
  expect(worthsAt(sized, 1)).toEqual([60 - 1.5, 80 - 6]);
  expect(worthsAt({ ...sized, weights: { ...weights, pricePerMbps: 0 } }, 1)).toEqual([60, 80]);
});

test('a switch falls by what viewers see, whatever the bits cost', () => {
  const from = (previousBitrateBps: number | undefined) => switchCosts({ ...state, previousBitrateBps });
  expect(from(undefined)).toEqual([0, 0]);
  expect(from(2e6)).toEqual([20 - 10, 0]);
  // A bitrate that the page has removed from the ladder.
  expect(previousQuality({ ...state, previousBitrateBps: 4e6 }, [10, 20])).toBe(40);
});
