/**
 * What forecasters that put `FEATURES` through a model have in common, whoever evaluates the model: the session's history,
 * where handovers fall, the recalibration, and a forecast made of the model's outputs. No clock and no I/O of its own.
 */

import type { ExpectedHandover, Observation, QuantileForecast, SessionContext } from '../abr/forecast.ts';
import { HandoverClock } from './handover-clock/handover-clock.ts';
import { LinkHistory } from './link-history.ts';
import { Recalibration } from './recalibration.ts';

/** What the outputs of a model mean. */
export interface ModelOutline {
  /** As in a forecast. */
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  rankCorrelation: number;
}

export interface ModelSessionOptions {
  /** Use where handovers fall, once the link has shown that it has any. Default true. */
  handover?: boolean | undefined;
  /** Scale the spread to the session's own errors. Default true. */
  recalibrate?: boolean | undefined;
}

/** A moment whose features were taken: what a forecast of it needs besides the model's outputs. */
export interface ForecastMoment {
  nowSeconds: number;
  referenceBps: number;
  handovers: readonly ExpectedHandover[];
}

/**
 * Probability of a LEO link from which the position in the epoch is a feature; it starts at a half, so that there has to be
 * some evidence. It takes less of it than announcing a handover does (`HandoverClock`): the networks learnt from
 * sessions in which boundaries hardly show as well, so that being wrong costs little, and being late costs
 * more (docs/predictors.md).
 */
const LEO_PROBABILITY = 0.7;
/** ln of ratios to the reference are kept within this, so that no rate is absurd. */
const GREATEST_LOG_RATIO = 7;

export class ModelSession {
  /** Absent with `handover: false`. May be told better times and hints; it is told all that the session observes. */
  readonly handoverClock: HandoverClock | undefined;
  readonly #recalibrate: boolean;
  #history = new LinkHistory();
  #outline: ModelOutline | undefined;
  #recalibration: Recalibration | undefined;
  #utcMsAtStart: number | undefined;

  constructor({ handover = true, recalibrate = true }: ModelSessionOptions = {}) {
    this.handoverClock = handover ? new HandoverClock() : undefined;
    this.#recalibrate = recalibrate;
  }

  /** What the session's errors make of the forecasts' spread; 1 at first. */
  get spreadScale(): number {
    return this.#recalibration?.scale ?? 1;
  }

  /** The model whose outputs `forecast` is going to be given. */
  useModel(outline: ModelOutline): void {
    this.#outline = outline;
    this.#recalibration = this.#recalibrate ? new Recalibration(outline) : undefined;
  }

  /** Forgets the last session and begins another; the model stays. */
  start(context: SessionContext): void {
    this.#history = new LinkHistory();
    this.#utcMsAtStart = context.utcMsAtStart;
    if (this.#outline !== undefined) this.useModel(this.#outline);
    this.handoverClock?.start(context);
  }

  /** Impossible observations (not finite, negative, out of order) change nothing. */
  observe(observation: Observation): void {
    this.handoverClock?.observe(observation);
    if (!this.#history.observe(observation) || observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    this.#recalibration?.observe(startSeconds, endSeconds, bits);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    if (!Number.isFinite(atSeconds + utcMs)) return;
    this.#utcMsAtStart = utcMs - atSeconds * 1000;
    this.handoverClock?.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  /** Writes the features of this moment into `features` (`FEATURES.length` long); undefined while there is nothing to go on. */
  moment(nowSeconds: number, features: Float64Array): ForecastMoment | undefined {
    if (!(nowSeconds >= 0 && nowSeconds < Number.POSITIVE_INFINITY)) return undefined;
    const estimate = this.handoverClock?.estimate(nowSeconds);
    const handoverSeconds =
      estimate !== undefined && estimate.leoProbability >= LEO_PROBABILITY ? estimate.phaseSeconds : Number.NaN;
    const referenceBps = this.#history.referenceBps();
    if (referenceBps === undefined || !this.#history.features(nowSeconds, handoverSeconds, features)) return undefined;
    const utcMsAtStart = this.#utcMsAtStart;
    const handovers =
      utcMsAtStart === undefined || estimate === undefined
        ? []
        : estimate.nextHandovers.map(({ atSeconds, confidence }) => ({
            atMs: utcMsAtStart + atSeconds * 1000,
            confidence,
          }));
    return { nowSeconds, referenceBps, handovers };
  }

  /**
   * The forecast for a moment from the model's outputs, `[step * levels + level]`, ln of ratios to the reference rate;
   * they are recalibrated in place. `useModel` has been called.
   */
  forecast(moment: ForecastMoment, source: string, values: Float64Array): QuantileForecast {
    const { nowSeconds, referenceBps, handovers } = moment;
    const { stepEndsSeconds, levels, rankCorrelation } = this.#outline!;
    this.#recalibration?.apply(nowSeconds, referenceBps, values);
    return {
      issuedAtMs: nowSeconds * 1000,
      source,
      stepEndsSeconds,
      levels,
      quantilesBps: stepEndsSeconds.map((_, step) =>
        levels.map((_, level) => {
          const value = values[step * levels.length + level]!;
          return referenceBps * Math.exp(Math.min(GREATEST_LOG_RATIO, Math.max(-GREATEST_LOG_RATIO, value)));
        }),
      ),
      rankCorrelation,
      handovers,
    };
  }
}
