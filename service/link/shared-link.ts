/** Adds the players' reports up in bins of 0.1 s, which wait for all players that download; and computes shares. */

import type { Observation } from '../../abr/forecast.ts';

/** Late: older than all open bins. Ahead: ends in the future. Impossible: reversed or over 10 s. */
export type ObservationVerdict = 'accepted' | 'late' | 'ahead' | 'impossible' | 'too-fast';

const BIN_SECONDS = 0.1;
/** Number of bins kept: 20 s, more than the longest hold-back and the window of shares. */
const BINS = 200;
/** Longest hold-back of a bin. Observations of older bins are late; in newer emitted bins they count for shares. */
const HELD_BACK_SECONDS = 1.5;
/** Players report twice a second. After this silence a player has paused or left, and bins do not wait for it. */
const REPORT_EXPECTED_SECONDS = 0.8;
/** After this silence a player is forgotten. */
const GONE_SECONDS = 10;
/** An observation may end this far ahead of the clock, because players estimate the offset of their clocks. */
const FUTURE_SLACK_SECONDS = 0.3;
const LONGEST_SECONDS = 10;
/** Above this rate a measurement is wrong: no link behind a dish is nearly as fast. */
export const MOST_BPS = 100e9;
/** Window of shares: 8 s. */
const SHARE_BINS = 80;
/** A player with fewer busy bins in the window gets an equal share. */
const LEAST_SHARE_BINS = 10;

type Player = ReturnType<typeof newPlayer>;

export interface SharedLinkOptions {
  /** Receives request latencies at once, and a throughput or idle observation per bin, in order of time. */
  emit(observation: Observation): void;
  mostPlayers: number;
}

export class SharedLink {
  private readonly _players = new Map<string, Player>();
  /** The first bin that has not been emitted; undefined while nobody reports. */
  private _open: number | undefined;
  private readonly _allBits = new Float64Array(BINS);
  /** End of the newest download of any player; -Infinity before the first download. */
  lastBusySeconds = Number.NEGATIVE_INFINITY;

  constructor(private readonly _options: SharedLinkOptions) {}

  get players(): number {
    return this._players.size;
  }

  /** Returns a verdict per observation, or undefined for a player too many. `isDownloading`: since the newest. */
  report(
    name: string,
    observations: readonly Observation[],
    { nowSeconds, isDownloading }: { nowSeconds: number; isDownloading?: boolean | undefined },
  ): readonly ObservationVerdict[] | undefined {
    const heldBack = Math.max(0, Math.floor((nowSeconds - HELD_BACK_SECONDS) / BIN_SECONDS));
    const open = this._open ?? heldBack;
    const first = Math.min(open, heldBack);
    const verdicts = observations.map((observation) => verdictOn(observation, { nowSeconds, first }));
    const isAnyAccepted = verdicts.includes('accepted');
    const known = this._players.get(name);
    if (known === undefined && !isAnyAccepted) return verdicts;
    if (known === undefined && this._players.size >= this._options.mostPlayers) return undefined;
    const player = known ?? newPlayer();
    if (isAnyAccepted) {
      this._players.set(name, player);
      player.lastSeenSeconds = nowSeconds;
      this._open = open;
    }
    observations.forEach((observation, i) => {
      if (verdicts[i] === 'accepted') this._add(player, { observation, first, open });
    });
    player.isDownloading = isDownloading ?? player.isDownloading;
    return verdicts;
  }

  /** Emits complete bins and forgets silent players. Call it several times a second. */
  advance(nowSeconds: number): void {
    for (const [name, player] of this._players) {
      if (nowSeconds - player.lastSeenSeconds > GONE_SECONDS) this._players.delete(name);
    }
    if (this._open === undefined) return;
    let reported = Number.POSITIVE_INFINITY;
    for (const { isDownloading, lastSeenSeconds, reportedSeconds } of this._players.values()) {
      const isAwaited = isDownloading && nowSeconds - lastSeenSeconds <= REPORT_EXPECTED_SECONDS;
      if (isAwaited) reported = Math.min(reported, reportedSeconds);
    }
    // While nobody downloads, bins wait as long as possible, so that a new player is not late.
    const heldBack = nowSeconds - HELD_BACK_SECONDS;
    const until = reported === Number.POSITIVE_INFINITY ? heldBack : Math.max(heldBack, Math.min(nowSeconds, reported));
    const end = Math.floor(until / BIN_SECONDS + 1e-6);
    if (end - this._open > BINS / 2) {
      // The machine slept: that time is unknown, and the ring buffers are outdated.
      this._players.clear();
      this._open = undefined;
      return;
    }
    for (; this._open < end; this._open++) this._emitBin(this._open);
    if (this._players.size === 0) this._open = undefined;
  }

  /** Returns a player's share of all bits while it was downloading, or an equal share until that is known. */
  share(name: string): number {
    const player = this._players.get(name);
    const others = this._players.size - (player === undefined ? 0 : 1);
    if (others === 0) return 1;
    let own = 0;
    let all = 0;
    let bins = 0;
    const end = this._open ?? 0;
    for (let bin = Math.max(0, end - SHARE_BINS); player !== undefined && bin < end; bin++) {
      const at = bin % BINS;
      if (player.busySeconds[at]! <= 0) continue;
      bins++;
      own += player.bits[at]!;
      all += this._allBits[at]!;
    }
    return bins >= LEAST_SHARE_BINS && own > 0 ? Math.min(1, own / all) : 1 / (others + 1);
  }

  eachPlayer(): { share: number; isDownloading: boolean; lastSeenSeconds: number }[] {
    return [...this._players].map(([name, { isDownloading, lastSeenSeconds }]) => {
      return { share: this.share(name), isDownloading, lastSeenSeconds };
    });
  }

  private _add(
    player: Player,
    { observation, first, open }: { observation: Observation; first: number; open: number },
  ): void {
    if (observation.kind === 'request-latency') {
      this._options.emit(observation);
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
      const at = bin % BINS;
      const inBin = Math.min(endSeconds, (bin + 1) * BIN_SECONDS) - Math.max(startSeconds, bin * BIN_SECONDS);
      // A report that is sent again adds nothing to a bin that is full.
      const seconds = Math.min(inBin, BIN_SECONDS - player.busySeconds[at]!);
      if (seconds <= 0) continue;
      const bits = (observation.bits / (endSeconds - startSeconds)) * seconds;
      player.bits[at]! += bits;
      if (bin < open) this._allBits[at]! += bits;
      player.busySeconds[at]! += seconds;
    }
  }

  private _emitBin(bin: number): void {
    const at = bin % BINS;
    let bits = 0;
    let busySeconds = 0;
    for (const player of this._players.values()) {
      bits += player.bits[at]!;
      // The downloads of several players are assumed to overlap.
      busySeconds = Math.max(busySeconds, player.busySeconds[at]!);
      // A later bin is cleared, which is not open to reports yet.
      player.bits[(bin + BINS / 2) % BINS] = 0;
      player.busySeconds[(bin + BINS / 2) % BINS] = 0;
    }
    this._allBits[at] = bits;
    const startSeconds = bin * BIN_SECONDS;
    const endSeconds = startSeconds + (busySeconds > 0 ? busySeconds : BIN_SECONDS);
    if (busySeconds > 0) this.lastBusySeconds = endSeconds;
    const when = { startSeconds, endSeconds };
    this._options.emit(busySeconds > 0 ? { kind: 'throughput', ...when, bits } : { kind: 'idle', ...when });
  }
}

function newPlayer() {
  return {
    /** The index is the bin's number modulo `BINS`. */
    bits: new Float64Array(BINS),
    busySeconds: new Float64Array(BINS),
    /** End of the player's newest observation. Since then it has been downloading or not. */
    reportedSeconds: Number.NEGATIVE_INFINITY,
    isDownloading: false,
    lastSeenSeconds: Number.NEGATIVE_INFINITY,
  };
}

/** `first` is the first bin that still accepts bits. */
function verdictOn(
  observation: Observation,
  { nowSeconds, first }: { nowSeconds: number; first: number },
): ObservationVerdict {
  const isLatency = observation.kind === 'request-latency';
  const endSeconds = isLatency ? observation.atSeconds : observation.endSeconds;
  if (!isLatency) {
    const seconds = endSeconds - observation.startSeconds;
    if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) return 'impossible';
    if (observation.kind === 'throughput' && observation.bits / seconds > MOST_BPS) return 'too-fast';
  }
  if (!(endSeconds <= nowSeconds + FUTURE_SLACK_SECONDS)) return 'ahead';
  const isLate = isLatency ? endSeconds < nowSeconds - LONGEST_SECONDS : endSeconds <= first * BIN_SECONDS;
  return isLate ? 'late' : 'accepted';
}
