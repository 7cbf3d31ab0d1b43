/**
 * BOLA: the representation follows from the buffer level (Spiteri, Urgaonkar, Sitaraman: "BOLA: near-optimal bitrate
 * adaptation for online videos", INFOCOM'16), in the form of dash.js 5 (BolaRule: BOLA-E's placeholder buffer, BOLA-O
 * against oscillation), with the guard that dash.js always runs beside it (InsufficientBufferRule).
 *
 * It downloads the r that maximises (Vp * (u_r - 1 + gp) - level) / R_r with u_r = ln(R_r / R_0) + 1. Vp and gp make the
 * lowest representation the preferred one up to 10 s, and the top one from the buffer target on, but never below 10 s +
 * 2 s per representation. A player with a smaller target never gets there, so the level includes a placeholder: media
 * that the buffer would hold if requests had not waited for room, from a first choice by throughput on.
 *
 * dash.js keeps the placeholder between calls. Here it is computed from the last downloads each time, so that equal
 * states mean equal decisions. Three simplifications follow. The placeholder does not fade (dash.js: 1 % per segment). A
 * stall empties it, but is only noticed if a download lasted longer than any buffer below the cap. And all of those
 * downloads count at the present playback rate. Thresholds follow from the maximised term; dash.js's
 * `_minBufferLevelForRepresentation` and `_maxBufferLevelForRepresentation` lie Vp above it.
 */

import type { Controller, Decision, Download, PlayerState } from './controller.ts';
import { EWMA_DOWNLOADS, ewmaThroughputBps } from './ewma-throughput.ts';
import { highestWithin, SAFETY_FACTOR } from './throughput.ts';

/** dash.js's `MINIMUM_BUFFER_S`: up to this buffer level BOLA prefers the lowest representation. */
const MINIMUM_BUFFER_SECONDS = 10;
/** dash.js's `MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`. */
const MINIMUM_BUFFER_PER_REPRESENTATION_SECONDS = 2;
/** Stands for an infinite buffer target. */
const MAX_TARGET_SECONDS = 3600;
/** InsufficientBufferRule's `throughputSafetyFactor` and `segmentIgnoreCount`. */
const GUARD_SAFETY_FACTOR = 0.7;
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

    // BOLA-O: the buffer alone does not raise the bitrate above the sustainable one.
    const previous = state.previousBitrateBps === undefined ? 0 : highestWithin(ladderBps, state.previousBitrateBps);
    if (representation > previous && representation > sustainable) {
      representation = Math.max(sustainable, previous);
      reason += ', held by throughput';
    }
    const guardBps = (GUARD_SAFETY_FACTOR * throughputBps * bufferLevelSeconds) / segmentSeconds;
    const most = highestWithin(ladderBps, guardBps);
    if (run.length >= GUARD_IGNORES_SEGMENTS && most < representation && !state.isPaused) {
      representation = most;
      reason += ', held by low buffer';
    }
    return this.decision(representation, reason);
  }

  private decision(representation: number, reason: string): Decision {
    return { representation, controller: this.name, reason };
  }
}

/** The last downloads of consecutive segments before the one to decide on, oldest first. */
function lastRun({ downloads, segmentIndex }: PlayerState): Download[] {
  const run: Download[] = [];
  let index = segmentIndex - 1;
  for (let i = downloads.length - 1; i >= 0 && run.length < EWMA_DOWNLOADS; i--) {
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
  // The first download of a session is no choice. The second was chosen by throughput, which filled the placeholder.
  let level = curve.lowestLevelFor(run[1]!.bitrateBps);
  // Upper bound of the true buffer level.
  let real = roomSeconds;
  for (let i = 1; i < run.length; i++) {
    const { bitrateBps, requestedAtSeconds, downloadSeconds } = run[i]!;
    level = Math.min(level, curve.highestLevelFor(bitrateBps));
    const played = playbackRate * downloadSeconds;
    if (played > real) level = 0;
    level = Math.max(level - played, 0) + segmentSeconds;
    real = Math.max(real - played, 0) + segmentSeconds;
    const nextAt = run[i + 1]?.requestedAtSeconds ?? state.nowSeconds;
    const waited = Math.max(0, nextAt - requestedAtSeconds - downloadSeconds);
    real = Math.min(roomSeconds, Math.max(0, real - playbackRate * waited));
  }
  return Math.max(level, state.bufferLevelSeconds);
}

/** BOLA's utilities and parameters for a ladder and a buffer target. */
class BolaCurve {
  private readonly vp: number;
  private readonly gp: number;

  constructor(
    private readonly ladderBps: readonly number[],
    bufferTargetSeconds: number,
  ) {
    const count = ladderBps.length;
    const floorSeconds = MINIMUM_BUFFER_SECONDS + MINIMUM_BUFFER_PER_REPRESENTATION_SECONDS * count;
    const targetSeconds = Math.max(Math.min(bufferTargetSeconds, MAX_TARGET_SECONDS), floorSeconds);
    this.gp = this.utility(ladderBps[count - 1]!) / (targetSeconds / MINIMUM_BUFFER_SECONDS - 1);
    this.vp = MINIMUM_BUFFER_SECONDS / this.gp;
  }

  /** u - 1: 0 for the lowest bitrate. */
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

  /** Buffer level from which a bitrate is preferred to all lower ones. */
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
