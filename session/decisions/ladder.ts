/** The representations to choose from, in the order in which a controller gets them; the same for all players. */

import type { Representation } from '../player-port.ts';

/** A representation as the stream declares it: `bitrateBps` is not above 0 where it is missing. */
export type Declared = Representation;

/** Bitrates of a video with twice the pixels differ by about 2 to this power. */
const BITRATE_PER_PIXELS = 0.75;
/** A picture of 1280 x 720 has about this bitrate in H.264, where no representation declares one. */
const USUAL = { pixels: 1280 * 720, bitrateBps: 2e6 };

/**
 * Fills in the bitrates that the stream does not declare, in bit/s: by the pictures' sizes, from the declared one that is
 * nearest in size, else from what is usual. `SegmentSizes` then learns how large these segments really are. Where a size is
 * missing, too, the lowest is taken for half of the lowest declared. A bitrate that pictures of all sizes share is the
 * largest one's. Pass all representations of a period, so that each always gets the same bitrate; the result has their
 * order. Undefined if a bitrate can be neither read nor estimated, unless there is nothing to choose.
 */
export function withBitrates<D extends Declared>(all: readonly D[]): readonly D[] | undefined {
  const most = Math.max(...all.map(pixelsOf));
  const isShared = all.every(({ bitrateBps }) => bitrateBps === all[0]!.bitrateBps);
  const isTold = (one: D) => isDeclared(one) && !(isShared && pixelsOf(one) > 0 && pixelsOf(one) < most);
  if (all.every(isTold)) return all;
  const declared = all.filter(isTold);
  const only = all.length === 1 ? USUAL.bitrateBps : 0;
  const estimated = all.map((one) => (isTold(one) ? one : { ...one, bitrateBps: estimateBps(one, declared) || only }));
  return estimated.every(isDeclared) ? estimated : undefined;
}

const isDeclared = ({ bitrateBps }: Declared) => bitrateBps > 0;
const pixelsOf = ({ width = 0, height = 0 }: Declared) => width * height || 0;

function estimateBps(one: Declared, declared: readonly Declared[]): number {
  const pixels = pixelsOf(one);
  const distance = (other: { pixels: number }) => Math.abs(Math.log(other.pixels / pixels));
  const known = declared.map((other) => ({ pixels: pixelsOf(other), bitrateBps: other.bitrateBps }));
  const [nearest = declared.length > 0 ? undefined : USUAL] = known
    .filter((other) => other.pixels > 0)
    .sort((a, b) => distance(a) - distance(b));
  if (pixels > 0 && nearest) return nearest.bitrateBps * (pixels / nearest.pixels) ** BITRATE_PER_PIXELS;
  return known.length > 0 ? Math.min(...known.map(({ bitrateBps }) => bitrateBps)) / 2 : 0;
}

/**
 * The representations ascending in bitrate. Among equal bitrates only the best picture stays: the larger score,
 * then more pixels, then more frames per second, then the later one.
 */
export function ladderOf<D extends Declared>(allowed: readonly D[]): D[] {
  const sorted = [...allowed].sort(
    (a, b) =>
      a.bitrateBps - b.bitrateBps ||
      (a.score || 0) - (b.score || 0) ||
      pixelsOf(a) - pixelsOf(b) ||
      (a.frameRate || 0) - (b.frameRate || 0),
  );
  return sorted.filter(({ bitrateBps }, i) => bitrateBps !== sorted[i + 1]?.bitrateBps);
}
