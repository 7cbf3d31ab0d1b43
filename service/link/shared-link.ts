/** One timeline of all players, in bins of 0.1 s that wait for all who download; and their shares. */

import type { Observation } from '../../abr/forecast.ts';

/** An observation of one player, on the session clock. */
export type Reported = Observation;

/** `late`: older than all open bins. `ahead`: ends in the future. `impossible`: reversed, over 10 s or above `MOST_BPS`. */
export type ObservationVerdict = 'accepted' | 'late' | 'ahead' | 'impossible';

const BIN_SECONDS = 0.1;
/** Bins kept: 20 s, more than the longest hold-back and the window of shares. */
const BINS = 200;
/** Longest hold-back of a bin; observations of earlier bins are `late`. Observations of later emitted bins count for shares. */
const HELD_BACK_SECONDS = 1.5;
/** Players report twice a second. After this silence a player has paused or left: do not wait for it. */
const REPORT_EXPECTED_SECONDS = 0.8;
const GONE_SECONDS = 10;
/** An observation may end this far ahead of the clock, because players estimate the offset of theirs. */
const FUTURE_SLACK_SECONDS = 0.3;
const LONGEST_SECONDS = 10;
/** Above this rate the measurement is wrong: no link behind a dish comes near. */
export const MOST_BPS = 100e9;
/** Window of shares: 8 s. */
const SHARE_BINS = 80;
/** Busy bins in the window that a player needs for a share of its own. */
const LEAST_SHARE_BINS = 10;

interface Player {
  /** By bin number modulo `BINS`. */
  bits: Float64Array;
  busySeconds: Float64Array;
  /** End of its newest observation, and whether it has been downloading since. */
  reportedSeconds: number;
  isDownloading: boolean;
  lastSeenSeconds: number;
}

interface ReportContext {
  nowSeconds: number;
  isDownloading?: boolean | undefined;
}

export interface SharedLinkOptions {
  /** Receives request latencies at once, and one throughput or idle observation per bin, in order of time. */
  emit(observation: Observation): void;
  mostPlayers: number;
}

export class SharedLink {
  readonly #players = new Map<string, Player>();
  #open: number | undefined;
  readonly #allBits = new Float64Array(BINS);
  /** End of the newest download of any player; -Infinity before the first one. */
  lastBusySeconds = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: SharedLinkOptions) {}

  get players(): number {
    return this.#players.size;
  }

  /** A verdict each, or undefined for a player too many. `isDownloading`: afterwards. */
  report(
    name: string,
    observations: readonly Reported[],
    { nowSeconds, isDownloading }: ReportContext,
  ): readonly ObservationVerdict[] | undefined {
    const heldBack = Math.max(0, Math.floor((nowSeconds - HELD_BACK_SECONDS) / BIN_SECONDS));
    const open = this.#open ?? heldBack;
    const first = Math.min(open, heldBack);
    const verdicts = observations.map((observation) => verdictOn(observation, { nowSeconds, first }));
    const isAnyAccepted = verdicts.includes('accepted');
    const known = this.#players.get(name);
    if (known === undefined && !isAnyAccepted) return verdicts;
    if (known === undefined && this.#players.size >= this.options.mostPlayers) return undefined;
    const player = known ?? newPlayer();
    if (isAnyAccepted) {
      this.#players.set(name, player);
      player.lastSeenSeconds = nowSeconds;
      this.#open = open;
    }
    observations.forEach((observation, i) => {
      if (verdicts[i] === 'accepted') this.#add(player, { observation, first, open });
    });
    player.isDownloading = isDownloading ?? player.isDownloading;
    return verdicts;
  }

  /** Emits complete bins and forgets silent players. Call it several times a second. */
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
    // While nobody downloads, hold back as long as possible, so that a new player is not late.
    const heldBack = nowSeconds - HELD_BACK_SECONDS;
    const until = reported === Number.POSITIVE_INFINITY ? heldBack : Math.max(heldBack, Math.min(nowSeconds, reported));
    const end = Math.floor(until / BIN_SECONDS + 1e-6);
    if (end - this.#open > BINS / 2) {
      // The machine slept: nothing is known about that time, and the ring buffers are outdated.
      this.#players.clear();
      this.#open = undefined;
      return;
    }
    for (; this.#open < end; this.#open++) this.#emitBin(this.#open);
    if (this.#players.size === 0) this.#open = undefined;
  }

  /** Its share of all bits while it was downloading, or an equal one until that is known. */
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

  eachPlayer(): { share: number; isDownloading: boolean; lastSeenSeconds: number }[] {
    return [...this.#players].map(([name, { isDownloading, lastSeenSeconds }]) => {
      return { share: this.share(name), isDownloading, lastSeenSeconds };
    });
  }

  #add(player: Player, { observation, first, open }: { observation: Reported; first: number; open: number }): void {
    if (observation.kind === 'request-latency') {
      this.options.emit(observation);
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
      if (bin < open) this.#allBits[at]! += bits;
      player.busySeconds[at] = Math.min(BIN_SECONDS, player.busySeconds[at]! + seconds);
    }
  }

  #emitBin(bin: number): void {
    const at = bin % BINS;
    let bits = 0;
    let busySeconds = 0;
    for (const player of this.#players.values()) {
      bits += player.bits[at]!;
      // Assume that the downloads of several players overlap.
      busySeconds = Math.max(busySeconds, player.busySeconds[at]!);
      // Clear a later bin, which is not open to reports yet.
      player.bits[(bin + BINS / 2) % BINS] = 0;
      player.busySeconds[(bin + BINS / 2) % BINS] = 0;
    }
    this.#allBits[at] = bits;
    const startSeconds = bin * BIN_SECONDS;
    const endSeconds = startSeconds + (busySeconds > 0 ? busySeconds : BIN_SECONDS);
    if (busySeconds > 0) this.lastBusySeconds = endSeconds;
    const when = { startSeconds, endSeconds };
    this.options.emit(busySeconds > 0 ? { kind: 'throughput', ...when, bits } : { kind: 'idle', ...when });
  }
}

function newPlayer(): Player {
  const [bits, busySeconds] = [new Float64Array(BINS), new Float64Array(BINS)];
  const never = Number.NEGATIVE_INFINITY;
  return { bits, busySeconds, reportedSeconds: never, isDownloading: false, lastSeenSeconds: never };
}

/** `first`: the first bin that still accepts bits. */
function verdictOn(
  observation: Reported,
  { nowSeconds, first }: { nowSeconds: number; first: number },
): ObservationVerdict {
  const isLatency = observation.kind === 'request-latency';
  const endSeconds = isLatency ? observation.atSeconds : observation.endSeconds;
  if (!isLatency) {
    const seconds = endSeconds - observation.startSeconds;
    if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) return 'impossible';
    if (observation.kind === 'throughput' && observation.bits / seconds > MOST_BPS) return 'impossible';
  }
  if (!(endSeconds <= nowSeconds + FUTURE_SLACK_SECONDS)) return 'ahead';
  const isLate = isLatency ? endSeconds < nowSeconds - LONGEST_SECONDS : endSeconds <= first * BIN_SECONDS;
  return isLate ? 'late' : 'accepted';
}
