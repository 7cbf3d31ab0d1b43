/** hls.js's levels as representations: their ids and bitrates, and which of them may be chosen. */

import type Hls from 'hls.js';
import type { ErrorData, FragLoadedData, Level } from 'hls.js';
import { ladderOf, withBitrates } from '../../session/ladder.ts';
import type { Representation } from '../../session/player-port.ts';
import { classOf, type HlsHandlers } from './player.ts';

/** A level as the flow knows it. */
export interface Rung extends Representation {
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

/*
 * How long levels that failed are avoided. hls.js itself plays them again when `errorPenaltyExpireMs` is set, and
 * otherwise only where it loaded the latest segment from them: after an outage it would stay on the lowest level.
 */

/** Unless the page sets hls.js's own time. It is several times as long after each further try. */
const AVOIDED_MS = 10_000;
const LONGER_TIMES = 4;

/** Between two whole segments. */
interface Trouble {
  levels: number;
  /** A request got no answer of HTTP. */
  isUnanswered: boolean;
}

interface Failure {
  /** hls.js's count, which it resets when the level plays. */
  errors: number;
  trouble: Trouble;
  atMs: number;
  /** Troubles since the level played. */
  times: number;
}

export class Failures {
  private readonly _failures = new WeakMap<Level, Failure>();
  private _trouble: Trouble = { levels: 0, isUnanswered: false };
  private _lastLoaded: Level | undefined;
  private _baseMs = AVOIDED_MS;

  handlers(hls: Hls): HlsHandlers {
    const { Events } = classOf(hls);
    this._baseMs = hls.config.errorPenaltyExpireMs || AVOIDED_MS;
    return {
      [Events.ERROR]: ({ details, response, frag, errorAction }: ErrorData) => {
        const isLoad = /Load(Error|TimeOut)$/.test(details);
        this._trouble.isUnanswered ||= isLoad && !response?.code;
        // From the lowest level, hls.js goes round to the highest, whatever is buffered. A gap has no level to try.
        const next = errorAction?.nextAutoLevel ?? -1;
        if (isLoad && frag?.type === 'main' && next > hls.loadLevel)
          errorAction!.nextAutoLevel = this._nextAbove(hls, next);
      },
      [Events.FRAG_LOADED]: ({ frag }: FragLoadedData) => {
        if (frag.type !== 'main') return;
        this.count(hls.levels);
        this._lastLoaded = hls.levels[frag.level];
        this._trouble = { levels: 0, isUnanswered: false };
      },
    };
  }

  /** Reads hls.js's counts. */
  count(levels: readonly Level[]): void {
    for (const level of levels) {
      const errors = level.loadError + level.fragmentError;
      const known = this._failures.get(level);
      if (errors === 0) this._failures.delete(level);
      else if (errors > (known?.errors || 0)) {
        const { _trouble: trouble } = this;
        const isNew = known?.trouble !== trouble;
        if (isNew) trouble.levels++;
        const times = (known?.times || 0) + Number(isNew);
        this._failures.set(level, { errors, trouble, times, atMs: performance.now() });
      } else known!.errors = errors;
    }
  }

  /** The lowest level above the one that failed that is like hls.js's choice. */
  private _nextAbove({ levels, loadLevel }: Hls, highest: number): number {
    const { codecSet } = levels[highest]!;
    return levels.findIndex(
      (level, i) => i === highest || (i > loadLevel && !level.loadError && level.codecSet === codecSet),
    );
  }

  isAvoided(level: Level): boolean {
    const failure = this._failures.get(level);
    if (!failure || level === this._lastLoaded) return false;
    const { trouble, times, atMs } = failure;
    // Unless it happens again, not the level is broken, but the link or the origin was.
    const isOutage = times === 1 && (trouble.isUnanswered || trouble.levels > 1);
    return !isOutage && performance.now() - atMs < this._baseMs * LONGER_TIMES ** (times - 1);
  }
}
