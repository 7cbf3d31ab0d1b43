/**
 * The prediction service of a household in simulated time: it adds up the players' reports, forecasts the link and
 * advises each player. Reports arrive at once, answers after `ANSWER_SECONDS`.
 */

import type { Forecast, Forecaster, InFlight, Observation, PlayerState, SessionContext } from '../../abr/index.ts';
import { median } from '../../abr/quantile.ts';
import { createBuiltInForecaster } from '../../predictor/built-in/built-in-forecaster.ts';
import { type Advice, Coordinator, type PlayerStatus } from '../../predictor/household/coordinator.ts';
import { type Reported, SharedLink } from '../../predictor/household/shared-link.ts';

/** From second 60 on it is gone; its answers take 5 s more; it forecasts five times, or a fifth, of the capacity. */
export type ServiceFault = 'dies' | 'late' | 'high' | 'low';

/** A player's side of a service. */
export interface Seat {
  /** After each request, tick of a download, and append. `segmentsLeft`: not requested yet. */
  tell(state: PlayerState, now: { inFlight: InFlight | undefined; segmentsLeft: number }): void;
  /** Whether the next request should wait. */
  waits(state: PlayerState): boolean;
}

interface Answer extends Advice {
  atSeconds: number;
  arrivesAtSeconds: number;
  /** Median of the link in the forecast's first step. */
  linkBps: number;
}

const ANSWER_SECONDS = 0.1;
const LATE_SECONDS = 5;
const DIES_AT_SECONDS = 60;
/** Older observations do not count as news: the link is forecast for now, instead of for their end. */
const LATEST_REPORT_SECONDS = 2;

const REPORT_SECONDS = 0.5;
const WAITING_REPORT_SECONDS = 0.2;
/** Older answers are not used. */
const OLDEST_SECONDS = 1;
/** Before a request a player waits this long for an answer, unless there was none for `SILENT_SECONDS`. */
const FIRST_ANSWER_SECONDS = 0.15;
const SILENT_SECONDS = 8;
/** Longest wait for a turn, in segments. */
const LONGEST_WAIT_SEGMENTS = 2;
/**
 * The service is ignored while its forecasts of the link, as a share of the fastest of the last downloads, are outside
 * these bounds in most of the last decisions.
 */
const PLAUSIBLE_SHARES = { least: 0.4, most: 3.5 };
const LAST_DOWNLOADS = 5;
const LAST_DECISIONS = 8;

/** Times are of the household's clock. */
export class HouseholdService {
  readonly #coordinator = new Coordinator();
  readonly #forecaster = createBuiltInForecaster();
  readonly #fault: ServiceFault | 'none';
  readonly #link: SharedLink;
  #observedUntilSeconds = 0;

  constructor(options: { utcMsAtStart: number; seed: number; fault: ServiceFault | 'none' }) {
    const { utcMsAtStart, seed, fault } = options;
    this.#fault = fault;
    this.#forecaster.start({ utcMsAtStart, utcUncertaintySeconds: 0.5, seed });
    this.#link = new SharedLink({
      emit: (observation) => {
        if (observation.kind === 'throughput') this.#observedUntilSeconds = observation.endSeconds;
        this.#forecaster.observe(observation);
      },
      mostPlayers: 64,
      mostPlayersOfAddress: 64,
    });
  }

  /** Undefined without a forecast. */
  report(player: string, observations: readonly Reported[], status: PlayerStatus): Answer | undefined {
    const { atSeconds } = status;
    if (this.#fault === 'dies' && atSeconds >= DIES_AT_SECONDS) return undefined;
    const isDownloading = status.remainingBits !== undefined;
    this.#link.report(player, observations, { nowSeconds: atSeconds, address: player, isDownloading });
    this.#link.advance(atSeconds);
    this.#coordinator.tell(player, status);
    const isNews = atSeconds - this.#observedUntilSeconds < LATEST_REPORT_SECONDS;
    const forecast = this.#forecaster.latest(isNews ? this.#observedUntilSeconds : atSeconds);
    if (forecast === undefined || forecast.kind === 'paths') return undefined;
    const factor = { high: 5, low: 0.2, dies: 1, late: 1, none: 1 }[this.#fault];
    const quantilesBps = forecast.quantilesBps.map((row) => row.map((bps) => factor * bps));
    return {
      ...this.#coordinator.advise(player, atSeconds, { ...forecast, quantilesBps }),
      atSeconds,
      arrivesAtSeconds: atSeconds + ANSWER_SECONDS + (this.#fault === 'late' ? LATE_SECONDS : 0),
      linkBps: quantilesBps[0]![(forecast.levels.length - 1) >> 1]!,
    };
  }
}

/**
 * A player of the household. Decisions use the service's forecast; downloads in flight, which may have the link to
 * themselves, are judged by the built-in one, as is everything without a fresh and plausible answer.
 */
export class ServiceSeat implements Seat, Forecaster {
  readonly name = 'service';
  readonly #builtIn = createBuiltInForecaster();
  #observations: Reported[] = [];
  #answers: Answer[] = [];
  #reportedAtSeconds = Number.NEGATIVE_INFINITY;
  #answeredAtSeconds: number;
  #turnSeconds: number | undefined;
  #isDownloading = false;
  #segmentsLeft = Number.POSITIVE_INFINITY;
  readonly #shares: number[] = [];

  constructor(
    readonly service: HouseholdService,
    readonly seat: { player: string; offsetSeconds: number },
  ) {
    this.#answeredAtSeconds = seat.offsetSeconds;
  }

  start(context: SessionContext): void {
    this.#builtIn.start(context);
  }

  observe(observation: Observation): void {
    const { offsetSeconds } = this.seat;
    this.#builtIn.observe(observation);
    this.#observations.push(
      observation.kind === 'request-latency'
        ? { ...observation, atSeconds: observation.atSeconds + offsetSeconds }
        : {
            ...observation,
            startSeconds: observation.startSeconds + offsetSeconds,
            endSeconds: observation.endSeconds + offsetSeconds,
          },
    );
  }

  tell(state: PlayerState, { inFlight, segmentsLeft }: { inFlight: InFlight | undefined; segmentsLeft: number }): void {
    const isNews = (inFlight !== undefined) !== this.#isDownloading;
    this.#isDownloading = inFlight !== undefined;
    this.#segmentsLeft = segmentsLeft;
    if (!isNews && this.#now(state) - this.#reportedAtSeconds < REPORT_SECONDS - 1e-6) return;
    this.#report(state, inFlight);
  }

  waits(state: PlayerState): boolean {
    const now = this.#now(state);
    if (this.#turnSeconds === undefined) this.#judge(state, now);
    const isNew = this.#turnSeconds === undefined;
    this.#turnSeconds ??= now;
    if (isNew || now - this.#reportedAtSeconds >= WAITING_REPORT_SECONDS) this.#report(state, undefined);
    const since = now - this.#turnSeconds;
    const answer = this.#answerAt(now);
    const waits =
      answer !== undefined && answer.atSeconds >= this.#turnSeconds
        ? now < answer.atSeconds + answer.waitSeconds && since < LONGEST_WAIT_SEGMENTS * state.segmentSeconds
        : since < FIRST_ANSWER_SECONDS && now - this.#answeredAtSeconds < SILENT_SECONDS;
    if (!waits) this.#turnSeconds = undefined;
    return waits;
  }

  latest(nowSeconds: number): Forecast | undefined {
    const { offsetSeconds } = this.seat;
    const answer = this.#isDownloading ? undefined : this.#answerAt(nowSeconds + offsetSeconds);
    if (answer === undefined) return this.#builtIn.latest(nowSeconds);
    return { ...answer.forecast, issuedAtMs: answer.forecast.issuedAtMs - offsetSeconds * 1000 };
  }

  #now({ nowSeconds }: PlayerState): number {
    return nowSeconds + this.seat.offsetSeconds;
  }

  /** The newest usable answer. */
  #answerAt(now: number): Answer | undefined {
    const answer = this.#arrived(now);
    if (answer === undefined || now - answer.atSeconds > OLDEST_SECONDS || !this.#isTrusted()) return undefined;
    this.#answeredAtSeconds = now;
    return answer;
  }

  #arrived(now: number): Answer | undefined {
    return this.#answers.filter(({ arrivesAtSeconds }) => arrivesAtSeconds <= now).at(-1);
  }

  #isTrusted(): boolean {
    const share = median(this.#shares.slice(-LAST_DECISIONS));
    return !(share < PLAUSIBLE_SHARES.least || share > PLAUSIBLE_SHARES.most);
  }

  /** Before each request. */
  #judge({ downloads }: PlayerState, now: number): void {
    const newest = this.#arrived(now);
    if (downloads.length === 0 || newest === undefined) return;
    const rates = downloads
      .slice(-LAST_DOWNLOADS)
      .map(
        ({ receivedBits, downloadSeconds, latencySeconds = 0 }) => receivedBits / (downloadSeconds - latencySeconds),
      );
    this.#shares.push(newest.linkBps / Math.max(1, ...rates));
  }

  #report(state: PlayerState, inFlight: InFlight | undefined): void {
    const { started, bufferLevelSeconds, bufferCapSeconds, segmentSeconds, ladderBps, previousBitrateBps } = state;
    const atSeconds = this.#now(state);
    const answer = this.service.report(this.seat.player, this.#observations, {
      ...{ atSeconds, bufferCapSeconds, segmentSeconds, ladderBps },
      bufferLevelSeconds: started ? bufferLevelSeconds : 0,
      bitrateBps: inFlight?.bitrateBps ?? previousBitrateBps,
      remainingBits: inFlight && inFlight.sizeBits - inFlight.receivedBits,
      segmentsLeft: this.#segmentsLeft,
      qoe: qoeSoFar(state),
      isWaiting: this.#turnSeconds !== undefined,
    });
    this.#observations = [];
    this.#reportedAtSeconds = atSeconds;
    this.#answers = this.#answers.filter((old) => atSeconds - old.arrivesAtSeconds < OLDEST_SECONDS);
    if (answer) this.#answers.push(answer);
  }
}

/** QoE per segment of the segments so far; undefined before the first. */
function qoeSoFar({ downloads, weights, nowSeconds, segmentSeconds, bufferLevelSeconds }: PlayerState) {
  const qualities = downloads
    .filter(({ abandoned }) => !abandoned)
    .map(({ bitrateBps }) => weights.quality(bitrateBps));
  const n = qualities.length;
  if (n === 0) return undefined;
  const changes = qualities.reduce((sum, q, i) => sum + (i === 0 ? 0 : Math.abs(q - qualities[i - 1]!)), 0);
  const waited = Math.max(0, nowSeconds - Math.max(0, n * segmentSeconds - bufferLevelSeconds));
  return (qualities.reduce((sum, q) => sum + q, 0) - weights.lambda * changes - weights.mu * waited) / n;
}
