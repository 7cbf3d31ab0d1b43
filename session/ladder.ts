/** The representations to choose from, for all players: in the order in which a controller gets them, and their qualities. */

import { modelledQuality } from '../abr/qoe/quality.ts';
import type { Representation } from './player-port.ts';

/** Bitrates of a video with twice the pixels differ by about 2 to this power. */
const BITRATE_PER_PIXELS = 0.75;
/** If no representation declares a bitrate, a picture of 1280 x 720 counts as this, the usual in H.264. */
const USUAL = { pixels: 1280 * 720, bitrateBps: 2e6 };

/**
 * Estimates the bitrates that the stream does not declare, in bit/s: from the declared bitrate of the picture that is
 * nearest in size, else from a usual bitrate. `SegmentSizes` then learns the real sizes. Without a picture size, the
 * estimate is half of the lowest declared bitrate. If pictures of different sizes share a bitrate, it counts for the largest.
 * Pass all representations of a period, so that each always gets the same bitrate; the result has their order. Undefined
 * if a bitrate among several can be neither read nor estimated. A `bitrateBps` not above 0 is not declared.
 */
export function withBitrates<D extends Representation>(all: readonly D[]): readonly D[] | undefined {
  const most = Math.max(...all.map(pixelsOf));
  const isShared = all.every(({ bitrateBps }) => bitrateBps === all[0]!.bitrateBps);
  const isTold = (one: D) => isDeclared(one) && !(isShared && pixelsOf(one) > 0 && pixelsOf(one) < most);
  if (all.every(isTold)) return all;
  const declared = all.filter(isTold).map((one) => ({ pixels: pixelsOf(one), bitrateBps: one.bitrateBps }));
  const only = all.length === 1 ? USUAL.bitrateBps : 0;
  const estimated = all.map((one) =>
    isTold(one)
      ? one
      : { ...one, bitrateBps: estimateBps(pixelsOf(one), declared) || only, isEstimated: true as const },
  );
  return estimated.every(isDeclared) ? estimated : undefined;
}

const isDeclared = ({ bitrateBps }: Representation) => bitrateBps > 0;
const pixelsOf = ({ width = 0, height = 0 }: Representation) => width * height || 0;

function estimateBps(pixels: number, declared: readonly (typeof USUAL)[]): number {
  const distance = (other: { pixels: number }) => Math.abs(Math.log(other.pixels / pixels));
  let nearest = declared.length > 0 ? undefined : USUAL;
  for (const one of declared) {
    if (one.pixels > 0 && !(nearest && distance(nearest) <= distance(one))) nearest = one;
  }
  if (pixels > 0 && nearest) return nearest.bitrateBps * (pixels / nearest.pixels) ** BITRATE_PER_PIXELS;
  return declared.length > 0 ? Math.min(...declared.map(({ bitrateBps }) => bitrateBps)) / 2 : 0;
}

/** A plan's time grows with the square of the choices: 300 would take a second. */
const MOST_RUNGS = 64;

/**
 * The representations ascending in bitrate. Among equal bitrates only the best picture stays: the larger score,
 * then more pixels, then more frames per second, then the later one. At most 64 stay, spread evenly.
 */
export function ladderOf<D extends Representation>(allowed: readonly D[]): D[] {
  const sorted = [...allowed].sort(
    (a, b) =>
      a.bitrateBps - b.bitrateBps ||
      (a.score || 0) - (b.score || 0) ||
      pixelsOf(a) - pixelsOf(b) ||
      (a.frameRate || 0) - (b.frameRate || 0),
  );
  const all = sorted.filter(({ bitrateBps }, i) => bitrateBps !== sorted[i + 1]?.bitrateBps);
  const last = all.length - 1;
  const most = Math.min(last, MOST_RUNGS - 1);
  return Array.from({ length: most + 1 }, (_, i) => all[Math.round((i * last) / most || 0)]!);
}

/** A stream of audio alone has no pictures to model; its top bitrate is below every video's. */
export const isAudio = (ladder: readonly Representation[]) =>
  ladder.every(({ width, bitrateBps }) => !width && bitrateBps <= MOST_AUDIO_BPS);
const MOST_AUDIO_BPS = 400e3;

/**
 * Qualities by the model, in the order that the stream declares. If all representations have a `SCORE`, the scores spread
 * the qualities between the lowest and the highest. If all have a rank, the qualities change places.
 */
export function ladderQualities(ladder: readonly Representation[], displayedLines: number | undefined): number[] {
  const modelled = ladder.map((one) => modelledQuality({ ...one, displayedLines }));
  const scores = ladder.map(({ score = 0 }) => score);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  if (least === most || scores.includes(0)) return modelled;
  const ascending = [...modelled].sort((a, b) => a - b);
  const [lowest, highest] = [ascending[0]!, ascending[ascending.length - 1]!];
  const order = [...scores].sort((a, b) => a - b);
  return scores.map((score) =>
    score > 0 ? lowest + ((score - least) / (most - least)) * (highest - lowest) : ascending[order.lastIndexOf(score)]!,
  );
}
