/**
 * How long levels that failed are avoided. hls.js itself plays them again when `errorPenaltyExpireMs` is set, and otherwise
 * only where it loaded the latest segment from them: after an outage it would stay on the lowest level.
 */

import type Hls from 'hls.js';
import type { ErrorData, FragLoadedData, Level } from 'hls.js';
import { classOf, type HlsHandlers } from './player.ts';

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
