/** hls.js's levels as representations: their ids and bitrates, and which of them may be chosen. */

import type Hls from 'hls.js';
import type { Level } from 'hls.js';
import { type Declared, ladderOf, withBitrates } from '../../session/ladder.ts';
import type { Failures } from './failures.ts';

/** A level as the core knows it. */
export interface Rung extends Declared {
  readonly level: Level;
}

/** By level: an id and a bitrate stay, whatever levels hls.js removes later. */
const rungs = new WeakMap<Level, Rung>();

/** All levels; undefined if the bitrate of one can be neither read nor estimated. */
export function rungsOf(levels: readonly Level[]): readonly Rung[] | undefined {
  if (levels.some((level) => !rungs.has(level))) {
    for (const one of described(levels) || []) if (!rungs.has(one.level)) rungs.set(one.level, one);
  }
  const all = levels.map((level) => rungs.get(level)!);
  return all.every(Boolean) ? all : undefined;
}

function described(levels: readonly Level[]): readonly Rung[] | undefined {
  const ids = idsOf(levels);
  return withBitrates(
    levels.map((level, i) => {
      const { averageBitrate, score, width, height, frameRate, videoCodec: codec } = level;
      return { id: ids[i]!, bitrateBps: averageBitrate || 0, score, width, height, frameRate, codec, level };
    }),
  );
}

/** HLS names no variants. `BANDWIDTH` tells them apart, else the size of the picture, else the place among the levels. */
function idsOf(levels: readonly Level[]): string[] {
  const bitrates = levels.map(({ bitrate }) => String(bitrate || 0));
  const isShared = (one: string) => bitrates.indexOf(one) !== bitrates.lastIndexOf(one);
  const ids = bitrates.map((one, i) => (isShared(one) ? `${one}-${levels[i]!.width}x${levels[i]!.height}` : one));
  return ids.map((id, i) => (ids.indexOf(id) < i ? `${id}-${i}` : id));
}

/**
 * The ladder of the levels within the page's limits. As hls.js does, it keeps to the codecs and the video range that play
 * (at the start: that hls.js chooses), goes up to no lower frame rate and down to no higher one, and avoids levels that
 * failed. `firstLevel`: what hls.js's own controller would play first.
 */
export function allowedRungs(
  hls: Hls,
  all: readonly Rung[],
  { failures, firstLevel }: { failures: Failures; firstLevel: () => number },
): Rung[] {
  const { levels, minAutoLevel, maxAutoLevel, loadLevelObj } = hls;
  const like = loadLevelObj ?? levels[firstLevel()];
  const base = levels.indexOf(like!);
  const isLike = ({ codecSet, videoRange }: Level) =>
    !like || (codecSet === like.codecSet && videoRange === like.videoRange);
  const isSmooth = ({ frameRate }: Level, i: number) =>
    !like || (i > base ? frameRate >= like.frameRate : !like.frameRate || frameRate <= like.frameRate);
  const isDecoded = ({ supportedResult }: Level) =>
    !supportedResult?.decodingInfoResults?.some(({ smooth }) => smooth === false);
  failures.count(levels);
  const isAllowed = ({ level }: Rung, i: number) =>
    i >= minAutoLevel &&
    i <= maxAutoLevel &&
    // The lowest level is hls.js's last resort, at any frame rate, and after errors, too: a gap is an error in each level.
    (level === like ||
      (isLike(level) &&
        (i === minAutoLevel || (isSmooth(level, i) && isDecoded(level) && !failures.isAvoided(level)))));
  return ladderOf(all.filter(isAllowed));
}
