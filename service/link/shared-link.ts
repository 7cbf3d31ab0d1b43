/**
 * The link that several players share, as one timeline of throughput: what they report is added up in tenths of a second,
 * held back until all have reported, and told onward in order of time. It also knows what share of the link a player
 * gets.
 */

import type { Observation } from '../../abr/forecast.ts';

/** What one player reports, on the service's session clock. */
export type Reported =
  | { kind: 'throughput'; startSeconds: number; endSeconds: number; bits: number }
  | { kind: 'idle'; startSeconds: number; endSeconds: number }
  | { kind: 'request-latency'; atSeconds: number; latencySeconds: number };

/** What became of a report's observations. */
export interface Taken {
  accepted: number;
  /** Too old: their time has been told onward already. */
  late: number;
  /** Ahead of the clock, reversed, or longer than a report may be. */
  impossible: number;
}

const BIN_SECONDS = 0.1;
/** Bins kept: 20 s, more than is held back and than shares look back on. */
const BINS = 200;
/** A bin is told onward this long after its end even if a player has not reported on it: reports come twice a second. */
const HELD_BACK_SECONDS = 1.5;
/** Players silent for so long count as gone. */
const GONE_SECONDS = 10;
/** How far ahead of the clock an observation may end: clocks are learnt to some milliseconds. */
const FUTURE_SLACK_SECONDS = 0.3;
const LONGEST_SECONDS = 10;
/** Shares look back on the last 8 s. */
const SHARE_BINS = 80;
/** A player has a share of its own once it was seen downloading for so many bins in that time. */
const LEAST_SHARE_BINS = 10;

interface Player {
  /** By bin number modulo `BINS`. */
  bits: Float64Array;
  busySeconds: Float64Array;
  /** Until when it has reported. */
  reportedSeconds: number;
  lastSeenSeconds: number;
}

export interface SharedLinkOptions {
  /** Told each tenth of a second in which something was downloaded, and pauses, in order of time. */
  emit(observation: Observation): void;
  /** Players remembered at once. */
  mostPlayers: number;
}

export class SharedLink {
  readonly #options: SharedLinkOptions;
  readonly #players = new Map<string, Player>();
  /** First bin that has not been told onward. */
  #open: number | undefined;
  /** Bits and busy seconds of all players per bin that was told. */
  readonly #allBits = new Float64Array(BINS);
  #lastBusySeconds = Number.NEGATIVE_INFINITY;

  constructor(options: SharedLinkOptions) {
    this.#options = options;
  }

  /** Players heard of in the last seconds. */
  get players(): number {
    return this.#players.size;
  }

  /** When something was downloaded last by any of them; -Infinity before. */
  get lastBusySeconds(): number {
    return this.#lastBusySeconds;
  }

  /** Undefined where there are too many players. */
  report(name: string, observations: readonly Reported[], nowSeconds: number): Taken | undefined {
    let player = this.#players.get(name);
    if (player === undefined) {
      if (this.#players.size >= this.#options.mostPlayers) return undefined;
      player = {
        bits: new Float64Array(BINS),
        busySeconds: new Float64Array(BINS),
        reportedSeconds: Number.NEGATIVE_INFINITY,
        lastSeenSeconds: nowSeconds,
      };
      this.#players.set(name, player);
    }
    player.lastSeenSeconds = nowSeconds;
    this.#open ??= Math.max(0, Math.floor((nowSeconds - HELD_BACK_SECONDS) / BIN_SECONDS));
    const taken: Taken = { accepted: 0, late: 0, impossible: 0 };
    for (const observation of observations) taken[this.#take(player, observation, nowSeconds)]++;
    return taken;
  }

  /** Tells onward what is complete, and forgets players that are gone. Call several times a second. */
  advance(nowSeconds: number): void {
    for (const [name, player] of this.#players) {
      if (nowSeconds - player.lastSeenSeconds > GONE_SECONDS) this.#players.delete(name);
    }
    if (this.#open === undefined) return;
    let until = nowSeconds;
    for (const { reportedSeconds } of this.#players.values()) until = Math.min(until, reportedSeconds);
    until = Math.max(until, nowSeconds - HELD_BACK_SECONDS);
    const end = Math.floor(until / BIN_SECONDS + 1e-6);
    if (end - this.#open > BINS / 2) {
      // The machine slept: there is nothing to tell of that time, and what the rings hold is of before.
      this.#players.clear();
      this.#open = undefined;
      return;
    }
    for (; this.#open < end; this.#open++) this.#tell(this.#open);
    if (this.#players.size === 0) this.#open = undefined;
  }

  /**
   * What part of the link's capacity a player may count on, above 0 and at most 1: its part of what came while it was
   * downloading; as much as any other before it is known.
   */
  share(name: string): number {
    const player = this.#players.get(name);
    const others = this.#players.size - (player === undefined ? 0 : 1);
    if (others === 0) return 1;
    let own = 0;
    let all = 0;
    let bins = 0;
    const end = this.#open ?? 0;
    for (let bin = Math.max(0, end - SHARE_BINS); player !== undefined && bin < end; bin++) {
      const at = bin % BINS;
      if (player.busySeconds[at]! <= 0) continue;
      bins++;
      own += player.bits[at]!;
      all += this.#allBits[at]!;
    }
    return bins >= LEAST_SHARE_BINS && own > 0 ? Math.min(1, own / all) : 1 / (others + 1);
  }

  #take(player: Player, observation: Reported, nowSeconds: number): keyof Taken {
    if (observation.kind === 'request-latency') {
      const { atSeconds } = observation;
      if (!(atSeconds <= nowSeconds + FUTURE_SLACK_SECONDS)) return 'impossible';
      if (atSeconds < nowSeconds - LONGEST_SECONDS) return 'late';
      this.#options.emit(observation);
      return 'accepted';
    }
    const { startSeconds, endSeconds } = observation;
    const duration = endSeconds - startSeconds;
    if (!(duration > 0 && duration <= LONGEST_SECONDS && endSeconds <= nowSeconds + FUTURE_SLACK_SECONDS)) {
      return 'impossible';
    }
    if (endSeconds <= this.#open! * BIN_SECONDS) return 'late';
    player.reportedSeconds = Math.max(player.reportedSeconds, endSeconds);
    if (observation.kind === 'idle') return 'accepted';
    const last = Math.ceil(endSeconds / BIN_SECONDS - 1e-9);
    for (let bin = Math.max(this.#open!, Math.floor(startSeconds / BIN_SECONDS + 1e-9)); bin < last; bin++) {
      const seconds = Math.min(endSeconds, (bin + 1) * BIN_SECONDS) - Math.max(startSeconds, bin * BIN_SECONDS);
      if (seconds <= 0) continue;
      const at = bin % BINS;
      player.bits[at]! += (observation.bits / duration) * seconds;
      player.busySeconds[at] = Math.min(BIN_SECONDS, player.busySeconds[at]! + seconds);
    }
    return 'accepted';
  }

  #tell(bin: number): void {
    const at = bin % BINS;
    let bits = 0;
    let busySeconds = 0;
    for (const player of this.#players.values()) {
      bits += player.bits[at]!;
      // Downloads of several players mostly overlap.
      busySeconds = Math.max(busySeconds, player.busySeconds[at]!);
      // The place of the bin that comes next, which is not open to reports yet.
      player.bits[(bin + BINS / 2) % BINS] = 0;
      player.busySeconds[(bin + BINS / 2) % BINS] = 0;
    }
    this.#allBits[at] = bits;
    const startSeconds = bin * BIN_SECONDS;
    if (busySeconds <= 0) {
      this.#options.emit({ kind: 'idle', startSeconds, endSeconds: startSeconds + BIN_SECONDS });
      return;
    }
    this.#lastBusySeconds = startSeconds + busySeconds;
    this.#options.emit({ kind: 'throughput', startSeconds, endSeconds: startSeconds + busySeconds, bits });
  }
}
