/**
 * The link that several players share, as one timeline of throughput: what they report is added up in tenths of a second,
 * held back until all that are downloading have reported, and emitted in order of time. It also knows what share of the
 * link a player gets.
 */

import type { Observation } from '../../abr/forecast.ts';

/** What one player reports, on the service's session clock. */
export type Reported =
  | { kind: 'throughput'; startSeconds: number; endSeconds: number; bits: number }
  | { kind: 'idle'; startSeconds: number; endSeconds: number }
  | { kind: 'request-latency'; atSeconds: number; latencySeconds: number };

/**
 * What became of an observation. `late`: it is older than anything is held back for. `ahead`: it ends after the clock of
 * the service. `impossible`: it is reversed, or longer than an observation may be.
 */
export type Verdict = 'accepted' | 'late' | 'ahead' | 'impossible';

/** Why there is no place for another player: all are taken, or the address has as many as one may have. */
export type Refusal = 'too-many-players' | 'too-many-players-of-address';

const BIN_SECONDS = 0.1;
/** Bins kept: 20 s, more than is held back and than shares look back on. */
const BINS = 200;
/** A bin is emitted this long after its end even if a player has not reported on it; what comes later is `late`. */
const HELD_BACK_SECONDS = 1.5;
/** Players report twice a second. One that has not for this long has paused or is gone: nobody waits for it. */
const REPORT_EXPECTED_SECONDS = 0.8;
/**
 * Bits of a bin that has been emitted already, of a player that has just begun, count on the bins that come next. They
 * raise the rate of a bin by at most this share, because a rate far above the link's would be believed.
 */
const LATE_SHARE = 0.5;
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
  address: string;
  /** By bin number modulo `BINS`. */
  bits: Float64Array;
  busySeconds: Float64Array;
  /** Until when it has reported, and whether it was downloading then. */
  reportedSeconds: number;
  isDownloading: boolean;
  lastSeenSeconds: number;
}

export interface SharedLinkOptions {
  /** Told each tenth of a second in which something was downloaded, and pauses, in order of time. */
  emit(observation: Observation): void;
  /** Players remembered at once. */
  mostPlayers: number;
  /** Those of one address among them. */
  mostPlayersOfAddress: number;
}

export class SharedLink {
  readonly #options: SharedLinkOptions;
  readonly #players = new Map<string, Player>();
  /** First bin that has not been emitted. */
  #open: number | undefined;
  /** Bits and busy seconds of all players per bin that was told. */
  readonly #allBits = new Float64Array(BINS);
  #lateBits = 0;
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

  /**
   * A verdict per observation. Only a report with an accepted observation takes a place, or keeps it; refused where there
   * is none.
   */
  report(
    name: string,
    observations: readonly Reported[],
    { nowSeconds, address }: { nowSeconds: number; address: string },
  ): readonly Verdict[] | Refusal {
    const heldBack = Math.max(0, Math.floor((nowSeconds - HELD_BACK_SECONDS) / BIN_SECONDS));
    const open = this.#open ?? heldBack;
    const first = Math.min(open, heldBack);
    const verdicts = observations.map((observation) => verdictOn(observation, { nowSeconds, first }));
    if (!verdicts.includes('accepted')) return verdicts;
    let player = this.#players.get(name);
    if (player === undefined) {
      const { mostPlayers, mostPlayersOfAddress } = this.#options;
      if (this.#players.size >= mostPlayers) return 'too-many-players';
      const ofAddress = [...this.#players.values()].filter((known) => known.address === address);
      if (ofAddress.length >= mostPlayersOfAddress) return 'too-many-players-of-address';
      player = {
        address,
        bits: new Float64Array(BINS),
        busySeconds: new Float64Array(BINS),
        reportedSeconds: Number.NEGATIVE_INFINITY,
        isDownloading: false,
        lastSeenSeconds: nowSeconds,
      };
      this.#players.set(name, player);
    }
    player.lastSeenSeconds = nowSeconds;
    this.#open = open;
    observations.forEach((observation, i) => {
      if (verdicts[i] === 'accepted') this.#add(player, { observation, first, open });
    });
    return verdicts;
  }

  /** Emits what is complete, and forgets players that are gone. Call several times a second. */
  advance(nowSeconds: number): void {
    for (const [name, player] of this.#players) {
      if (nowSeconds - player.lastSeenSeconds > GONE_SECONDS) this.#players.delete(name);
    }
    if (this.#open === undefined) return;
    let reported = Number.POSITIVE_INFINITY;
    for (const { isDownloading, lastSeenSeconds, reportedSeconds } of this.#players.values()) {
      const isAwaited = isDownloading && nowSeconds - lastSeenSeconds <= REPORT_EXPECTED_SECONDS;
      if (isAwaited) reported = Math.min(reported, reportedSeconds);
    }
    // Where nobody downloads there is no news to hold back, and whoever begins is not late.
    const heldBack = nowSeconds - HELD_BACK_SECONDS;
    const until = reported === Number.POSITIVE_INFINITY ? heldBack : Math.max(heldBack, Math.min(nowSeconds, reported));
    const end = Math.floor(until / BIN_SECONDS + 1e-6);
    if (end - this.#open > BINS / 2) {
      // The machine slept: there is nothing to tell of that time, and what the rings hold is of before.
      this.#players.clear();
      this.#open = undefined;
      this.#lateBits = 0;
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

  #add(player: Player, { observation, first, open }: { observation: Reported; first: number; open: number }): void {
    if (observation.kind === 'request-latency') {
      this.#options.emit(observation);
      return;
    }
    const { startSeconds, endSeconds } = observation;
    if (endSeconds >= player.reportedSeconds) {
      player.reportedSeconds = endSeconds;
      player.isDownloading = observation.kind === 'throughput';
    }
    if (observation.kind === 'idle') return;
    const last = Math.ceil(endSeconds / BIN_SECONDS - 1e-9);
    for (let bin = Math.max(first, Math.floor(startSeconds / BIN_SECONDS + 1e-9)); bin < last; bin++) {
      const seconds = Math.min(endSeconds, (bin + 1) * BIN_SECONDS) - Math.max(startSeconds, bin * BIN_SECONDS);
      if (seconds <= 0) continue;
      const at = bin % BINS;
      const bits = (observation.bits / (endSeconds - startSeconds)) * seconds;
      player.bits[at]! += bits;
      if (bin < open) {
        this.#allBits[at]! += bits;
        this.#lateBits += bits;
      }
      player.busySeconds[at] = Math.min(BIN_SECONDS, player.busySeconds[at]! + seconds);
    }
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
      this.#lateBits = 0;
      this.#options.emit({ kind: 'idle', startSeconds, endSeconds: startSeconds + BIN_SECONDS });
      return;
    }
    const lateBits = Math.min(this.#lateBits, LATE_SHARE * bits);
    this.#lateBits -= lateBits;
    this.#lastBusySeconds = startSeconds + busySeconds;
    const endSeconds = startSeconds + busySeconds;
    this.#options.emit({ kind: 'throughput', startSeconds, endSeconds, bits: bits + lateBits });
  }
}

/** `first`: the first bin that bits still count for. */
function verdictOn(observation: Reported, { nowSeconds, first }: { nowSeconds: number; first: number }): Verdict {
  const isLatency = observation.kind === 'request-latency';
  const endSeconds = isLatency ? observation.atSeconds : observation.endSeconds;
  if (!isLatency) {
    const seconds = endSeconds - observation.startSeconds;
    if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) return 'impossible';
  }
  if (!(endSeconds <= nowSeconds + FUTURE_SLACK_SECONDS)) return 'ahead';
  const isLate = isLatency ? endSeconds < nowSeconds - LONGEST_SECONDS : endSeconds <= first * BIN_SECONDS;
  return isLate ? 'late' : 'accepted';
}
