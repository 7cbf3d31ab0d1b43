import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { anyDownloads, anyLadder, anyState } from '../../abr/random-states.fixture.ts';
import { highestWithin } from '../../abr/state/facts.ts';
import { Throughput } from './throughput.ts';

test('highestWithin is the highest bitrate that fits, else the lowest', () => {
  forAll([anyLadder(), whole(0, 20)], { seed: 1 }, (ladderBps, mbps) => {
    const fitting = ladderBps.filter((bps) => bps <= mbps * 1e6);
    expect(highestWithin(ladderBps, mbps * 1e6)).toBe(Math.max(0, fitting.length - 1));
  });
});

const controller = new Throughput();

test('takes the lowest before the first measurement', () => {
  forAll([anyState()], { numRuns: 50, seed: 1 }, (state) => expect(controller.decide(state).representation).toBe(0));
});

test('a link of constant rate gets the bitrate that 0.9 of it carries', () => {
  forAll([anyState(anyDownloads()), whole(1, 130)], { numRuns: 500, seed: 2 }, (state, mbps) => {
    fc.pre(state.downloads.length > 0);
    const downloads = state.downloads.map((download) => {
      const bits = mbps * 1e6 * download.downloadSeconds;
      return { ...download, receivedBits: bits, sizeBits: bits, abandoned: false };
    });
    // A rate just beside the threshold may fall on either side of it.
    fc.pre(state.ladderBps.every((bps) => Math.abs(bps / (0.9e6 * mbps) - 1) > 1e-9));
    const { representation, plannedThroughputBps } = controller.decide({ ...state, downloads });
    expect(plannedThroughputBps! / (0.9e6 * mbps)).toBeCloseTo(1, 9);
    expect(representation).toBe(highestWithin(state.ladderBps, (0.9e6 * mbps) / state.playbackRate));
  });
});
