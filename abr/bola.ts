/**
 * BOLA: chooses the representation by buffer level (Spiteri, Urgaonkar, Sitaraman: "BOLA: near-optimal bitrate
 * adaptation for online videos", INFOCOM'16). This is the form of dash.js 5: BolaRule (the placeholder buffer of BOLA-E
 * and BOLA-O's protection against oscillation) with InsufficientBufferRule, which dash.js always runs beside it.
 *
 * With R_r the bitrate and u_r = ln(R_r / R_0) + 1 the utility of representation r, BOLA chooses the r with the largest
 *
 *   (Vp * (u_r - 1 + gp) - buffer level) / R_r
 *
 * Vp and gp are such that the lowest representation wins up to 10 s of buffer, and the top one from the buffer target
 * on. The target is the buffer cap, but at least 10 s + 2 s per representation. A player with a smaller cap never
 * reaches that level. So a placeholder is added to its buffer: media that it would hold if requests had not waited for
 * room. The placeholder starts with the first choice by throughput.
 *
 * dash.js keeps the placeholder between calls. Here it is computed from the last downloads each time, so that equal
 * states mean equal decisions. Three simplifications follow. The placeholder does not fade (dash.js: 1 % per segment).
 * A stall empties it, but is only noticed if a download lasted longer than any buffer below the cap. And all of those
 * downloads count at the present playback rate.
 */

import { type Controller, type Decision, type Download, type PlayerState, RECENT_DOWNLOADS } from './controller.ts';
import { ewmaThroughputBps } from './ewma-throughput.ts';
import { highestWithin } from './ladder.ts';
import { SAFETY_FACTOR } from './throughput.ts';

/** Up to this buffer level BOLA prefers the lowest representation (dash.js's `MINIMUM_BUFFER_S`). */
const MINIMUM_BUFFER_SECONDS = 10;
/**
 * Added to `MINIMUM_BUFFER_SECONDS` for each representation: the least buffer target, so that there is room between the
 * levels at which representations change (dash.js's `MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`).
 */
const MINIMUM_BUFFER_PER_REPRESENTATION_SECONDS = 2;
/** Replaces an infinite buffer cap. */
const MAX_TARGET_SECONDS = 3600;
/**
 * Share of the throughput at which a segment must arrive before the buffer is empty. Lower than `SAFETY_FACTOR`,
 * because an empty buffer forgives no error (InsufficientBufferRule's `throughputSafetyFactor`).
 */
const GUARD_SAFETY_FACTOR = 0.7;
/** First segments that the guard ignores, because the buffer is low at the start (its `segmentIgnoreCount`). */
const GUARD_IGNORES_SEGMENTS = 2;

export function createBola(): Controller {
  return new Bola();
}

class Bola implements Controller {
  readonly name = 'bola';

  decide(state: PlayerState): Decision {
    const { ladderBps, bufferLevelSeconds, segmentSeconds, playbackRate } = state;
    if (!(ladderBps[ladderBps.length - 1]! > ladderBps[0]!)) return this.decision(0, 'one bitrate');
    const measuredBps = ewmaThroughputBps(state.downloads);
    if (measuredBps === undefined) return this.decision(0, 'nothing measured yet: lowest');
    // A player at rate 2 consumes twice the bitrate.
    const throughputBps = measuredBps / playbackRate;
    const sustainable = highestWithin(ladderBps, SAFETY_FACTOR * throughputBps);
    const run = lastRun(state);
    if (run.length < 2) return this.decision(sustainable, 'starting: by throughput');
    const curve = new BolaCurve(ladderBps, state.bufferCapSeconds);
    const levelSeconds = effectiveLevelSeconds(state, run, curve);
    let representation = curve.representationAt(levelSeconds);
    let reason = `buffer level with placeholder ${levelSeconds.toFixed(1)} s`;

    // BOLA-O: the buffer level alone does not raise the bitrate above the sustainable one.
    const previous = state.previousBitrateBps === undefined ? 0 : highestWithin(ladderBps, state.previousBitrateBps);
    if (representation > previous && representation > sustainable) {
      representation = Math.max(sustainable, previous);
      reason += ', held by throughput';
    }
    const guardBps = (GUARD_SAFETY_FACTOR * throughputBps * bufferLevelSeconds) / segmentSeconds;
    const guarded = highestWithin(ladderBps, guardBps);
    if (run.length >= GUARD_IGNORES_SEGMENTS && guarded < representation && !state.isPaused) {
      representation = guarded;
      reason += ', held by low buffer';
    }
    return this.decision(representation, reason);
  }

  private decision(representation: number, reason: string): Decision {
    return { representation, controller: this.name, reason };
  }
}

/** The downloads of the consecutive segments that end before the one to decide on, oldest first. */
function lastRun({ downloads, segmentIndex }: PlayerState): Download[] {
  const run: Download[] = [];
  let index = segmentIndex - 1;
  for (let i = downloads.length - 1; i >= 0 && run.length < RECENT_DOWNLOADS; i--) {
    const download = downloads[i]!;
    if (download.abandoned) continue;
    if (download.segmentIndex !== index) break;
    run.unshift(download);
    index--;
  }
  return run;
}

/** Buffer level with the placeholder, in seconds. */
function effectiveLevelSeconds(state: PlayerState, run: readonly Download[], curve: BolaCurve): number {
  const { segmentSeconds, bufferCapSeconds, playbackRate } = state;
  const roomSeconds = Math.max(0, bufferCapSeconds - segmentSeconds);
  // The first download of a session is not a choice. The second was chosen by throughput, which set the placeholder.
  let levelSeconds = curve.lowestLevelFor(run[1]!.bitrateBps);
  /** Upper bound of the buffer level without the placeholder. */
  let realSeconds = roomSeconds;
  for (let i = 1; i < run.length; i++) {
    const { bitrateBps, requestedAtSeconds, downloadSeconds } = run[i]!;
    levelSeconds = Math.min(levelSeconds, curve.highestLevelFor(bitrateBps));
    const playedSeconds = playbackRate * downloadSeconds;
    if (playedSeconds > realSeconds) levelSeconds = 0;
    levelSeconds = Math.max(levelSeconds - playedSeconds, 0) + segmentSeconds;
    realSeconds = Math.max(realSeconds - playedSeconds, 0) + segmentSeconds;
    const nextAt = run[i + 1]?.requestedAtSeconds ?? state.nowSeconds;
    const waitedSeconds = Math.max(0, nextAt - requestedAtSeconds - downloadSeconds);
    realSeconds = Math.min(roomSeconds, Math.max(0, realSeconds - playbackRate * waitedSeconds));
  }
  return Math.max(levelSeconds, state.bufferLevelSeconds);
}

/**
 * BOLA's choice by buffer level, for a ladder and a buffer cap. The buffer levels at which choices change follow from
 * the maximised term; dash.js's `_minBufferLevelForRepresentation` and `_maxBufferLevelForRepresentation` are Vp
 * higher.
 */
class BolaCurve {
  /** Seconds of buffer per unit of utility. */
  private readonly vp: number;
  /** Weight of uninterrupted playback against utility. */
  private readonly gp: number;

  constructor(
    private readonly ladderBps: readonly number[],
    bufferCapSeconds: number,
  ) {
    const count = ladderBps.length;
    const leastTargetSeconds = MINIMUM_BUFFER_SECONDS + MINIMUM_BUFFER_PER_REPRESENTATION_SECONDS * count;
    const targetSeconds = Math.max(Math.min(bufferCapSeconds, MAX_TARGET_SECONDS), leastTargetSeconds);
    this.gp = this.utility(ladderBps[count - 1]!) / (targetSeconds / MINIMUM_BUFFER_SECONDS - 1);
    this.vp = MINIMUM_BUFFER_SECONDS / this.gp;
  }

  /** u_r - 1, which is 0 for the lowest bitrate. */
  private utility(bitrateBps: number): number {
    return Math.log(bitrateBps / this.ladderBps[0]!);
  }

  representationAt(levelSeconds: number): number {
    let best = 0;
    let bestScore = Number.NEGATIVE_INFINITY;
    this.ladderBps.forEach((bitrateBps, r) => {
      const score = (this.vp * (this.utility(bitrateBps) + this.gp) - levelSeconds) / bitrateBps;
      if (score >= bestScore) {
        best = r;
        bestScore = score;
      }
    });
    return best;
  }

  /** Buffer level from which BOLA prefers this bitrate to all lower ones. */
  lowestLevelFor(bitrateBps: number): number {
    let level = 0;
    for (const lowerBps of this.ladderBps) {
      if (lowerBps >= bitrateBps) break;
      const crossing =
        (bitrateBps * this.utility(lowerBps) - lowerBps * this.utility(bitrateBps)) / (bitrateBps - lowerBps);
      level = Math.max(level, this.vp * (this.gp + crossing));
    }
    return level;
  }

  /** Buffer level above which BOLA waits rather than downloading this bitrate. */
  highestLevelFor(bitrateBps: number): number {
    return this.vp * (Math.max(0, this.utility(bitrateBps)) + this.gp);
  }
}
