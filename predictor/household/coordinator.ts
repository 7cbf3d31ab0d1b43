/**
 * Advises the players of a home, so that the least QoE among them rises first, and then the sum:
 * - a forecast of each player's share of the link, from the link's forecast and what the others are about to download;
 * - turns: a download next to another one delays that one and ends no earlier than after it, so a request waits for the
 *   download of another player that has no more left than the request would fetch;
 * - weights: a player whose QoE has been lower than the others' may expect a larger share, and they a smaller one.
 *
 * Pure, without a clock: all seconds are of the caller's clock.
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { Futures } from '../../abr/mpc-l/futures.ts';
import { quantile } from '../../abr/quantile.ts';

/** What a player tells of itself, twice a second and when a download begins or ends. */
export interface PlayerStatus {
  atSeconds: number;
  /** 0 before playback. */
  bufferLevelSeconds: number;
  bufferCapSeconds: number;
  segmentSeconds: number;
  ladderBps: readonly number[];
  /** Of the download in flight, else of the last one; undefined before the first. */
  bitrateBps: number | undefined;
  /** Of the download in flight; undefined without one. */
  remainingBits: number | undefined;
  /** Segments that it has not requested yet. */
  segmentsLeft: number;
  /** Its QoE so far per segment, in the unit of Mbit/s; undefined before the first segment. */
  qoe: number | undefined;
  /** It would send a request now, but waits. */
  isWaiting: boolean;
}

export interface Advice {
  /** Of the capacity that the player gets while it downloads. */
  forecast: QuantileForecast;
  /** Seconds from now until a request should be sent; 0: at once. */
  waitSeconds: number;
}

/** Futures of the link, and the steps in which they are played. */
const FUTURES = 24;
const STEP_SECONDS = 0.25;
const STEPS = 64;
const STEP_ENDS_SECONDS = [0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16];
const LEVELS = [0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95];
/** A request may leave this much before the other download ends: a round trip, and errors of the estimate. */
const HANDOFF_SECONDS = 0.15;
/** With this much buffer beyond twice the time that a larger download needs, a request waits for that one, too. */
const AMPLE_SECONDS = 2;
/** A player that has waited without news for this long is no longer waiting. */
const WAITING_SECONDS = 1;
/** A player that is behind by a fair share's bitrate gets e^this of the weight, at most `MOST_WEIGHT`. */
const WEIGHT_OF_QOE = 1.5;
const MOST_WEIGHT = 2;
/** Silence after which a player is forgotten. */
const GONE_SECONDS = 10;

/** A player in the played futures. */
interface Neighbour {
  weight: number;
  ladderBps: readonly number[];
  segmentSeconds: number;
  bufferCapSeconds: number;
  remainingBits: number;
  bufferLevelSeconds: number;
  nextRequestSeconds: number;
  segmentsLeft: number;
}

export class Coordinator {
  readonly #players = new Map<string, PlayerStatus>();
  readonly #futures = new Futures(FUTURES, 8, 1);

  tell(player: string, status: PlayerStatus): void {
    this.#players.set(player, status);
  }

  /** For a player that has told of itself; `link` is the forecast for all of them together. */
  advise(player: string, nowSeconds: number, link: QuantileForecast): Advice {
    for (const [name, { atSeconds }] of this.#players) {
      if (nowSeconds - atSeconds > GONE_SECONDS) this.#players.delete(name);
    }
    const own = this.#players.get(player);
    const others = [...this.#players]
      .filter(([name, { segmentsLeft, remainingBits }]) => name !== player && (segmentsLeft > 0 || remainingBits))
      .map(([, status]) => status);
    if (own === undefined || others.length === 0) return { forecast: link, waitSeconds: 0 };
    const medianBps = link.quantilesBps[0]![(link.levels.length - 1) >> 1]!;
    const now = this.#extrapolated([own, ...others], nowSeconds, medianBps);
    return {
      forecast: this.#shareOf(now, nowSeconds, link),
      waitSeconds: waitSeconds(now, nowSeconds, Math.max(1, medianBps)),
    };
  }

  /** As they probably are now. */
  #extrapolated(statuses: readonly PlayerStatus[], nowSeconds: number, medianBps: number): PlayerStatus[] {
    const active = statuses.filter(({ remainingBits }) => remainingBits !== undefined).length;
    return statuses.map((status) => {
      const elapsed = Math.max(0, nowSeconds - status.atSeconds);
      const { remainingBits, bufferLevelSeconds } = status;
      return {
        ...status,
        bufferLevelSeconds: Math.max(0, bufferLevelSeconds - elapsed),
        remainingBits: remainingBits && Math.max(1, remainingBits - (elapsed * medianBps) / active),
      };
    });
  }

  /** The first player's capacity in futures of the link, while the others download, pause and return. */
  #shareOf(players: readonly PlayerStatus[], nowSeconds: number, link: QuantileForecast): QuantileForecast {
    const [weight = 1, ...weights] = weightsOf(players, link);
    const weightOfAll = weights.reduce((sum, one) => sum + one, weight);
    const futures = this.#futures;
    futures.draw(link, Math.max(0, nowSeconds - link.issuedAtMs / 1000));
    const linkEnds = futures.stepEndsSeconds();
    const rates = STEP_ENDS_SECONDS.map(() => new Float64Array(FUTURES));
    for (let future = 0; future < FUTURES; future++) {
      const neighbours = players.slice(1).map((status, i) => neighbourOf(status, weights[i]!));
      let linkStep = 0;
      let row = 0;
      let bits = 0;
      let rowSeconds = 0;
      for (let step = 0; step < STEPS; step++) {
        const seconds = step * STEP_SECONDS;
        while (linkStep < linkEnds.length - 1 && seconds + STEP_SECONDS / 2 >= linkEnds[linkStep]!) linkStep++;
        const linkBps = futures.stepBps(future, linkStep);
        let sending = weight;
        for (const one of neighbours) {
          if (one.remainingBits <= 0 && one.segmentsLeft > 0 && seconds >= one.nextRequestSeconds) {
            one.segmentsLeft--;
            one.remainingBits = one.segmentSeconds * highestAtMost(one.ladderBps, (linkBps * one.weight) / weightOfAll);
          }
          if (one.remainingBits > 0) sending += one.weight;
        }
        const perWeight = (linkBps * STEP_SECONDS) / sending;
        for (const one of neighbours) advance(one, { seconds, bits: perWeight * one.weight });
        bits += perWeight * weight;
        rowSeconds += STEP_SECONDS;
        if (seconds + STEP_SECONDS < STEP_ENDS_SECONDS[row]!) continue;
        rates[row++]![future] = bits / rowSeconds;
        bits = 0;
        rowSeconds = 0;
      }
    }
    return {
      issuedAtMs: nowSeconds * 1000,
      source: 'service',
      stepEndsSeconds: STEP_ENDS_SECONDS,
      levels: LEVELS,
      quantilesBps: rates.map((row) => {
        row.sort();
        return LEVELS.map((level) => quantile(row, level));
      }),
      rankCorrelation: link.rankCorrelation,
      handovers: link.handovers,
    };
  }
}

/** How long the first player should wait for the downloads of others, and for those who wait with less buffer. */
function waitSeconds([own, ...others]: readonly PlayerStatus[], nowSeconds: number, medianBps: number): number {
  const sizeOf = ({ bitrateBps, ladderBps, segmentSeconds }: PlayerStatus) =>
    (bitrateBps ?? ladderBps[0]!) * segmentSeconds;
  const { bufferLevelSeconds } = own!;
  const inFlight = others.flatMap(({ remainingBits }) => remainingBits ?? []);
  let wait = 0;
  if (inFlight.length > 0) {
    const longest = Math.max(...inFlight);
    const isAmple = bufferLevelSeconds > (2 * longest) / medianBps + AMPLE_SECONDS;
    const endsSeconds = (longest * inFlight.length) / medianBps;
    if (isAmple || longest <= sizeOf(own!)) wait = Math.max(0, endsSeconds - HANDOFF_SECONDS);
  }
  for (const other of others) {
    const waits = other.isWaiting && nowSeconds - other.atSeconds < WAITING_SECONDS;
    if (waits && other.bufferLevelSeconds < bufferLevelSeconds) wait += sizeOf(other) / medianBps;
  }
  return wait;
}

/** Weights of shares, in the players' order. */
function weightsOf(players: readonly PlayerStatus[], { levels, quantilesBps }: QuantileForecast): number[] {
  const known = players.flatMap(({ qoe }) => qoe ?? []);
  const mean = known.reduce((sum, qoe) => sum + qoe, 0) / Math.max(1, known.length);
  const lastBps = quantilesBps.at(-1)![(levels.length - 1) >> 1]!;
  const unit = Math.max(players[0]!.ladderBps[0]!, lastBps / players.length) / 1e6;
  return players.map(({ qoe = mean }) =>
    Math.min(MOST_WEIGHT, Math.max(1 / MOST_WEIGHT, Math.exp((WEIGHT_OF_QOE * (mean - qoe)) / unit))),
  );
}

function neighbourOf(status: PlayerStatus, weight: number): Neighbour {
  const { bufferLevelSeconds, bufferCapSeconds, segmentSeconds, segmentsLeft, ladderBps } = status;
  return {
    ...{ weight, ladderBps, segmentSeconds, bufferCapSeconds, bufferLevelSeconds, segmentsLeft },
    remainingBits: status.remainingBits ?? 0,
    nextRequestSeconds: bufferLevelSeconds + segmentSeconds - bufferCapSeconds,
  };
}

/** Plays a step: the buffer drains, and a segment that is complete is added to it. */
function advance(one: Neighbour, { seconds, bits }: { seconds: number; bits: number }): void {
  one.bufferLevelSeconds = Math.max(0, one.bufferLevelSeconds - STEP_SECONDS);
  if (one.remainingBits <= 0) return;
  one.remainingBits -= bits;
  if (one.remainingBits > 0) return;
  one.bufferLevelSeconds += one.segmentSeconds;
  const excessSeconds = one.bufferLevelSeconds + one.segmentSeconds - one.bufferCapSeconds;
  one.nextRequestSeconds = seconds + STEP_SECONDS + Math.max(0, excessSeconds);
}

function highestAtMost(ladderBps: readonly number[], bps: number): number {
  return Math.max(ladderBps[0]!, ...ladderBps.filter((one) => one <= bps));
}
