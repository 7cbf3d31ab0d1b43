/**
 * Random player states, paths and download histories for the property tests of this folder. Half of the numbers are
 * small integers, and representations may share a bitrate or a size, so that plans really tie.
 */

import fc from 'fast-check';
import { type CapacityPath, ConstantPath, PiecewisePath } from './capacity-path.ts';
import type { Download, PlayerState } from './controller.ts';
import { type QoeWeights, qoeWeights } from './qoe.ts';

/** An integer or any number between two bounds. */
export function anyNumber(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: Math.ceil(min), max }), fc.double({ min, max, noNaN: true }));
}

const LADDERS_BPS = [[3e6, 8e6, 15e6, 30e6, 60e6, 120e6], [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3], [4e6]];

/** Bitrates in bit/s, ascending, one to six, some equal to their neighbour. */
export function anyLadder(): fc.Arbitrary<number[]> {
  return fc.oneof(
    fc.constantFrom(...LADDERS_BPS),
    fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }))
      .map(([lowest, steps]) => {
        const ladder = [lowest * 1e6];
        for (const step of steps) ladder.push(ladder[ladder.length - 1]! + step * 1e6);
        return ladder;
      }),
  );
}

export function anyWeights(ladderBps: readonly number[]): fc.Arbitrary<QoeWeights> {
  return fc.oneof(
    fc.constant(qoeWeights('linear', ladderBps)),
    fc.constant(qoeWeights('log', ladderBps)),
    fc.record({
      quality: fc.constantFrom<QoeWeights['quality']>(
        (bps) => bps / 1e6,
        (bps) => Math.floor(bps / 2e6),
        () => 1,
      ),
      mu: fc.constantFrom(0, 1, 2, 4.3, 30),
      lambda: fc.constantFrom(0, 0.5, 1, 2),
    }),
  );
}

/** Downloads of one session, oldest first, one after another. */
export function anyDownloads(maxLength = 16): fc.Arbitrary<Download[]> {
  return fc
    .array(
      fc.record({
        bitrateBps: fc.integer({ min: 1, max: 20 }).map((mbps) => mbps * 1e6),
        sizeBits: fc.integer({ min: 1, max: 80 }).map((megabits) => megabits * 1e6),
        downloadSeconds: anyNumber(0.25, 8),
      }),
      { maxLength },
    )
    .map((rows) => {
      let at = 0;
      return rows.map((row, segmentIndex) => {
        const requestedAtSeconds = at;
        at += row.downloadSeconds;
        return { ...row, segmentIndex, requestedAtSeconds, receivedBits: row.sizeBits, abandoned: false };
      });
    });
}

export interface StateChoices {
  /** Default: none. */
  downloads?: fc.Arbitrary<Download[]>;
}

/** A valid state. */
export function anyState(choices: StateChoices = {}): fc.Arbitrary<PlayerState> {
  return anyLadder().chain((ladderBps) =>
    fc
      .record({
        segmentSeconds: fc.constantFrom(1, 2, 4),
        started: fc.boolean(),
        level: anyNumber(0, 24),
        // Powers of two, so that rounding cannot tip what a path with steps of rate 0 delivers.
        playbackRate: fc.constantFrom(1, 1, 0.5, 2),
        isPaused: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
        capSegments: fc.constantFrom(1, 1.5, 2, 4, 15),
        segmentsRemaining: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(Number.POSITIVE_INFINITY)),
        factors: fc.array(fc.oneof(fc.constantFrom(0.5, 1, 1, 1.5), fc.double({ min: 0.2, max: 3, noNaN: true })), {
          minLength: 1,
          maxLength: 8,
        }),
        alike: fc.integer({ min: 0, max: 9 }),
        previousBitrateBps: fc.oneof(fc.constantFrom(undefined, 2.5e6, ...ladderBps), fc.constantFrom(...ladderBps)),
        weights: anyWeights(ladderBps),
        downloads: choices.downloads ?? fc.constant([]),
      })
      .map(({ level, capSegments, factors, alike, ...rest }) => ({
        ...rest,
        ladderBps,
        nowSeconds: 100,
        segmentIndex: 3,
        bufferLevelSeconds: rest.started ? level : 0,
        bufferCapSeconds: capSegments * rest.segmentSeconds,
        // In one state of ten all representations of a segment have one size.
        upcomingSizesBits: factors.map((factor) =>
          ladderBps.map((bps) => (alike === 0 ? ladderBps[0]! : bps) * rest.segmentSeconds * factor),
        ),
      })),
  );
}

/** Constant and varying links, also dead ones and ones with latency. */
export function anyPath(): fc.Arbitrary<CapacityPath> {
  const rateBps = fc.oneof(fc.constant(0), anyNumber(0.01, 12)).map((mbps) => mbps * 1e6);
  const latencySeconds = fc.constantFrom(0, 0, 0.04, 1);
  return fc.oneof(
    fc.tuple(rateBps, latencySeconds).map(([rate, latency]) => new ConstantPath(rate, latency)),
    fc
      .record({
        steps: fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), rateBps), { minLength: 1, maxLength: 12 }),
        latencySeconds,
        originSeconds: anyNumber(0, 10),
      })
      .map(({ steps, latencySeconds, originSeconds }) => {
        let at = 0;
        const stepEndsSeconds = steps.map(([seconds]) => {
          at += seconds;
          return at;
        });
        const ratesBps = steps.map(([, rate]) => rate);
        return new PiecewisePath({ stepEndsSeconds, ratesBps, latencySeconds }).from(originSeconds);
      }),
  );
}
