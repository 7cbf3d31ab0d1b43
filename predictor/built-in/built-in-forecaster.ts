/**
 * The forecaster that the plugin always has: quantiles of the capacity of the next 48 s from what the session has seen so
 * far, by small networks shipped as a table (`shipped-model.ts`). docs/predictors.md says how it was trained and how
 * well it does. Pure, deterministic, constant memory; no clock and no I/O of its own.
 */

import type { Forecast, Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { HandoverClock } from '../handover-clock/handover-clock.ts';
import { FEATURES, LinkHistory } from '../link-history.ts';
import { Recalibration } from '../recalibration.ts';
import { type Model, type ModelFile, parseModel } from './model-file.ts';
import { QuantileNetworks } from './quantile-network.ts';
import { SHIPPED_MODEL } from './shipped-model.ts';

export interface BuiltInForecasterOptions {
  /** A model of `leo-abr train`, as its JSON holds it or as `parseModel` gave it. Default: the shipped one. */
  model?: Model | ModelFile;
  /** Use where handovers fall, once the link has shown that it has any. Default true. */
  handover?: boolean;
  /** Scale the spread to the session's own errors. Default true. */
  recalibrate?: boolean;
}

export interface BuiltInForecaster extends Forecaster {
  /** Absent with `handover: false`. May be told better times and hints; the forecaster itself tells it all it observes. */
  readonly handoverClock: HandoverClock | undefined;
  /** What the session's errors make of the forecasts' spread; 1 at first. */
  readonly spreadScale: number;
}

/** A forecast is made anew after this long, not each time it is asked for. */
const LIFETIME_SECONDS = 0.2;
/**
 * Probability of a LEO link from which the position in the epoch is a feature; it starts at a half, so that there has to be
 * some evidence. It takes less of it than announcing a handover does (`HandoverClock`): the networks learnt from
 * sessions in which boundaries hardly show as well, so that being wrong costs little, and being late costs
 * more (docs/predictors.md).
 */
const LEO_PROBABILITY = 0.7;
/** ln of ratios to the reference are kept within this, so that no rate is absurd. */
const GREATEST_LOG_RATIO = 7;

/** Throws an `InputError` for a model that is none. */
export function createBuiltInForecaster(options: BuiltInForecasterOptions = {}): BuiltInForecaster {
  return new NetworkForecaster(options);
}

class NetworkForecaster implements BuiltInForecaster {
  readonly name = 'built-in';
  readonly handoverClock: HandoverClock | undefined;
  readonly #model: Model;
  readonly #networks: QuantileNetworks;
  readonly #recalibrate: boolean;
  readonly #features = new Float64Array(FEATURES.length);
  readonly #values: Float64Array;
  #history = new LinkHistory();
  #recalibration: Recalibration;
  #utcMsAtStart: number | undefined;
  #newest: QuantileForecast | undefined;

  constructor(options: BuiltInForecasterOptions) {
    const { model = SHIPPED_MODEL, handover = true, recalibrate = true } = options;
    this.#model = 'format' in model ? parseModel(model) : model;
    const { networks, stepEndsSeconds, levels } = this.#model;
    this.#networks = new QuantileNetworks(networks, stepEndsSeconds.length, levels.length);
    this.#values = new Float64Array(stepEndsSeconds.length * levels.length);
    this.#recalibrate = recalibrate;
    this.#recalibration = new Recalibration(this.#model);
    this.handoverClock = handover ? new HandoverClock() : undefined;
  }

  get spreadScale(): number {
    return this.#recalibrate ? this.#recalibration.scale : 1;
  }

  start(context: SessionContext): void {
    this.#history = new LinkHistory();
    this.#recalibration = new Recalibration(this.#model);
    this.#utcMsAtStart = context.utcMsAtStart;
    this.#newest = undefined;
    this.handoverClock?.start(context);
  }

  /** Impossible observations (not finite, negative, out of order) change nothing. */
  observe(observation: Observation): void {
    this.handoverClock?.observe(observation);
    if (!this.#history.observe(observation) || observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    if (this.#recalibrate) this.#recalibration.observe(startSeconds, endSeconds, bits);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    if (!Number.isFinite(atSeconds + utcMs)) return;
    this.#utcMsAtStart = utcMs - atSeconds * 1000;
    this.handoverClock?.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  latest(nowSeconds: number): Forecast | undefined {
    const newest = this.#newest;
    if (newest !== undefined) {
      const age = nowSeconds - newest.issuedAtMs / 1000;
      if (age >= 0 && age < LIFETIME_SECONDS) return newest;
    }
    if (!(nowSeconds >= 0 && nowSeconds < Number.POSITIVE_INFINITY)) return undefined;
    this.#newest = this.#forecast(nowSeconds);
    return this.#newest;
  }

  #forecast(nowSeconds: number): QuantileForecast | undefined {
    const estimate = this.handoverClock?.estimate(nowSeconds);
    const handoverSeconds =
      estimate !== undefined && estimate.leoProbability >= LEO_PROBABILITY ? estimate.phaseSeconds : Number.NaN;
    const reference = this.#history.referenceBps();
    if (reference === undefined || !this.#history.features(nowSeconds, handoverSeconds, this.#features))
      return undefined;
    const values = this.#values;
    this.#networks.evaluate(this.#features, values);
    if (this.#recalibrate) this.#recalibration.apply(nowSeconds, reference, values);
    const { stepEndsSeconds, levels, rankCorrelation } = this.#model;
    const utcMsAtStart = this.#utcMsAtStart;
    return {
      issuedAtMs: nowSeconds * 1000,
      source: this.name,
      stepEndsSeconds,
      levels,
      quantilesBps: stepEndsSeconds.map((_, step) =>
        levels.map((_, level) => {
          const value = values[step * levels.length + level]!;
          return reference * Math.exp(Math.min(GREATEST_LOG_RATIO, Math.max(-GREATEST_LOG_RATIO, value)));
        }),
      ),
      rankCorrelation,
      handovers:
        utcMsAtStart === undefined || estimate === undefined
          ? []
          : estimate.nextHandovers.map(({ atSeconds, confidence }) => ({
              atMs: utcMsAtStart + atSeconds * 1000,
              confidence,
            })),
    };
  }
}
