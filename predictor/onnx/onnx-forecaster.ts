/**
 * A forecaster with an ONNX model, which onnxruntime-web evaluates in a Worker. The page only computes the features and
 * recalibrates the quantiles. Evaluations are requested five times a second during a session, so that `latest` has a
 * recent forecast; it never waits.
 */

import { InputError } from '../../abr/errors.ts';
import type { Forecast, Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { type ForecastMoment, ModelSession, type ModelSessionOptions } from '../forecast/model-session.ts';
import { FEATURES } from '../link/features.ts';
import type { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import type { ModelCard } from './model-card.ts';
import { modelValues } from './model-values.ts';
import type { ModelSummary, ModelUrls } from './protocol.ts';
import { TICK_MS, WorkerClient, type WorkerLike } from './worker-client.ts';

/** URLs may be relative to the page. All must have the page's origin, or allow it by CORS. */
export interface OnnxForecasterOptions extends ModelSessionOptions {
  /** The model: an ONNX file with a model card, such as `leo-abr/models/built-in.onnx`. */
  modelUrl: string | URL;
  /** The module of onnxruntime-web's `/wasm` build: `ort.wasm.bundle.min.mjs`, or `onnxruntime-web/wasm` resolved. */
  runtimeUrl: string | URL;
  /** `ort-wasm-simd-threaded.wasm` of the same onnxruntime-web. */
  wasmUrl: string | URL;
  /** `leo-abr/onnx-worker`. Default: `leo-abr.onnx-worker.js` beside this module. */
  workerUrl?: string | URL | undefined;
  /** With false, the `.wasm` (nearly all of the bytes) is not loaded before `load()`. Default true. */
  loadAtOnce?: boolean | undefined;
}

export interface OnnxForecaster extends Forecaster {
  /** After `failed`, the next session tries again. */
  readonly status: 'unloaded' | 'loading' | 'ready' | 'failed' | 'closed';
  /** The model's card, once `ready`. */
  readonly card: ModelCard | undefined;
  /**
   * Undefined with `handover: false`. Accepts better times and hints; the forecaster reports its observations to it.
   */
  readonly handoverClock: HandoverClock | undefined;
  /** Loads the rest; a second call does nothing. */
  load(): void;
  /** Ends the Worker and all forecasts. */
  close(): void;
}

/** The used part of a page; tests replace it. */
export interface Surroundings {
  newWorker(url: string): WorkerLike;
  /** The base of relative URLs. */
  baseUrl(): string | undefined;
  defaultWorkerUrl(): string;
  /** A monotonic clock in ms. */
  nowMs(): number;
  /** Calls back with this period until the returned function is called. */
  every(ms: number, callback: () => void): () => void;
}

/** A forecast is reused for this long. */
const LIFETIME_SECONDS = 0.2;
/** Without a call of `latest` for this long, the session is paused or over. */
const REST_SECONDS = 15;

type Status = OnnxForecaster['status'];

export class WorkerForecaster extends ModelSession implements OnnxForecaster {
  readonly name = 'onnx';
  readonly #options: OnnxForecasterOptions;
  readonly #surroundings: Surroundings;
  readonly #features = new Float64Array(FEATURES.length);
  #client: WorkerClient | undefined;
  #stopTicking: (() => void) | undefined;
  #status: Status = 'unloaded';
  #model: ModelSummary | undefined;
  #cardJson: string | undefined;
  #card: ModelCard | undefined;
  /** The indices of the model's features in `FEATURES`. */
  #inputs: readonly number[] = [];
  /** An error that `latest` has not thrown yet. */
  #fault: Error | undefined;
  /** A time of the session's clock, and the page's clock then. */
  #anchor: { seconds: number; ms: number } | undefined;
  #requested: { id: number; moment: ForecastMoment } | undefined;
  #newest: QuantileForecast | undefined;

  /** @throws {InputError} for invalid options. */
  constructor(options: OnnxForecasterOptions, surroundings: Surroundings) {
    checkOptions(options);
    super(options);
    this.#options = options;
    this.#surroundings = surroundings;
    if (options.loadAtOnce ?? true) this.load();
    else this.#begin(false);
  }

  get status(): Status {
    return this.#status;
  }

  get card(): ModelCard | undefined {
    // Parsed on demand, because it is long.
    if (this.#cardJson !== undefined) this.#card ??= JSON.parse(this.#cardJson) as ModelCard;
    return this.#card;
  }

  load(): void {
    if (this.#status !== 'unloaded') return;
    this.#status = 'loading';
    if (this.#client === undefined) this.#begin(true);
    else this.#client.load();
    this.#startTicking();
  }

  #begin(loadAtOnce: boolean): void {
    try {
      const { defaultWorkerUrl, newWorker } = this.#surroundings;
      const { workerUrl = defaultWorkerUrl(), modelUrl, runtimeUrl, wasmUrl } = this.#options;
      const urls: ModelUrls = {
        modelUrl: this.#absolute(modelUrl),
        runtimeUrl: this.#absolute(runtimeUrl),
        wasmUrl: this.#absolute(wasmUrl),
      };
      this.#client = new WorkerClient({
        worker: newWorker(this.#absolute(workerUrl)),
        urls,
        loadAtOnce,
        onReady: (model, card) => this.#use(model, card),
        onEvaluated: (id, quantiles) => this.#publish(id, quantiles),
        onFailure: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  close(): void {
    this.#status = 'closed';
    this.#fault = undefined;
    this.#release();
  }

  override start(context: SessionContext): void {
    // After a reported failure, maybe of the network, try again.
    if (this.#status === 'failed' && this.#fault === undefined) {
      this.#status = 'unloaded';
      this.load();
    }
    super.start(context);
    this.#anchor = undefined;
    this.#requested = undefined;
    this.#newest = undefined;
  }

  /** The newest forecast. Throws an error since the previous call once. */
  latest(nowSeconds: number): Forecast | undefined {
    const fault = this.#fault;
    if (fault !== undefined) {
      this.#fault = undefined;
      throw fault;
    }
    this.#anchor = { seconds: nowSeconds, ms: this.#surroundings.nowMs() };
    this.#request(nowSeconds);
    this.#startTicking();
    return this.#newest;
  }

  #absolute(url: string | URL): string {
    return new URL(url, this.#surroundings.baseUrl()).href;
  }

  #use(model: ModelSummary, card: string): void {
    this.#inputs = model.features.map((name) => FEATURES.findIndex((feature) => feature.name === name));
    this.useModel(model);
    this.#model = model;
    this.#cardJson = card;
    this.#card = undefined;
    this.#status = 'ready';
    this.#tick();
  }

  /** Requests an evaluation, unless one is active or recent. */
  #request(nowSeconds: number): void {
    const client = this.#client;
    if (client === undefined) return;
    const age = nowSeconds - (this.#newest?.issuedAtMs ?? Number.NEGATIVE_INFINITY) / 1000;
    if (age >= 0 && age < LIFETIME_SECONDS) return;
    // Also while the model loads, because the first call is the slowest.
    const moment = this.moment(nowSeconds, this.#features);
    if (moment === undefined || !client.isFree) return;
    const features = Float32Array.from(this.#inputs, (at) => this.#features[at]!);
    this.#requested = { id: client.evaluate(features), moment };
  }

  #publish(id: number, quantiles: Float32Array): void {
    // Ignore results of an earlier session.
    if (id !== this.#requested?.id) return;
    const { moment } = this.#requested;
    this.#requested = undefined;
    const model = this.#model!;
    this.#newest = this.forecast(moment, `model:${model.name}`, modelValues(quantiles, model));
  }

  #fail(error: Error): void {
    this.#status = 'failed';
    this.#fault = error;
    this.#release();
  }

  #release(): void {
    this.#client?.end();
    this.#client = undefined;
    this.#endTicking();
    this.#requested = undefined;
    this.#newest = undefined;
  }

  #startTicking(): void {
    if (this.#client === undefined) return;
    this.#stopTicking ??= this.#surroundings.every(TICK_MS, () => {
      this.#client?.tick();
      this.#tick();
    });
  }

  /** Requests forecasts between decisions (a full buffer), so that the next decision finds a recent one. */
  #tick(): void {
    const { seconds, ms } = this.#anchor ?? { seconds: Number.NaN, ms: 0 };
    const passedSeconds = (this.#surroundings.nowMs() - ms) / 1000;
    const isActive = this.#anchor !== undefined && passedSeconds < REST_SECONDS;
    if (isActive) this.#request(seconds + passedSeconds);
    else if (!this.#client?.isWaiting) this.#endTicking();
  }

  #endTicking(): void {
    this.#stopTicking?.();
    this.#stopTicking = undefined;
  }
}

const URL_FIELDS = ['modelUrl', 'runtimeUrl', 'wasmUrl', 'workerUrl'];
const SWITCHES = ['loadAtOnce', 'handover', 'recalibrate'];

function checkOptions(options: OnnxForecasterOptions): void {
  if (typeof options !== 'object' || options === null) throw new InputError('options', 'an object', options);
  const required = { modelUrl: undefined, runtimeUrl: undefined, wasmUrl: undefined };
  for (const [field, value] of Object.entries<unknown>({ ...required, ...options })) {
    const isSwitch = SWITCHES.includes(field);
    const isUrl = value instanceof URL || (typeof value === 'string' && value !== '');
    const isValid = isSwitch ? typeof value === 'boolean' : URL_FIELDS.includes(field) && isUrl;
    if (isValid || (value === undefined && (isSwitch || field === 'workerUrl'))) continue;
    const expected = URL_FIELDS.includes(field) ? 'a URL' : `one of ${[...URL_FIELDS, ...SWITCHES].join(', ')}`;
    throw new InputError(`options.${field}`, isSwitch ? 'true or false' : expected, value);
  }
}
