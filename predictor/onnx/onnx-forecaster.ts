/**
 * A forecaster with an ONNX model, which onnxruntime-web evaluates in a Worker. The page only computes the features and
 * recalibrates the quantiles. Evaluations are requested five times a second during a session, so that `latest` has a
 * recent forecast; it never waits.
 */

import { InputError } from '../../abr/errors.ts';
import type { Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import type { ForecastMoment, ModelSessionOptions } from '../forecast/model-session.ts';
import type { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import type { ModelCard } from './model-card.ts';
import { errorOf, OnnxSession } from './onnx-session.ts';
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
  /** With false, nothing is loaded before `load()`. Default true. */
  loadAtOnce?: boolean | undefined;
}

export interface OnnxForecaster extends Forecaster {
  /** After `failed`, the next session tries again. */
  readonly status: 'unloaded' | 'loading' | 'ready' | 'failed' | 'closed';
  /** The model's card, once `ready`. */
  readonly card: ModelCard | undefined;
  /** Of the present session; accepts better times and hints. */
  readonly handoverClock: HandoverClock | undefined;
  /** Loads the model; a second call does nothing. */
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

export class WorkerForecaster extends OnnxSession implements OnnxForecaster {
  status: OnnxForecaster['status'] = 'unloaded';
  readonly #options: OnnxForecasterOptions;
  readonly #surroundings: Surroundings;
  #client: WorkerClient | undefined;
  #stopTicking: (() => void) | undefined;
  /** A time of the session's clock, and the page's clock then. */
  #anchor: { seconds: number; ms: number } | undefined;
  /** Undefined without a request of this session. */
  #requested: ForecastMoment | undefined;

  /** @throws {InputError} for invalid options. */
  constructor(options: OnnxForecasterOptions, surroundings: Surroundings) {
    checkOptions(options);
    super(options);
    this.#options = options;
    this.#surroundings = surroundings;
    if (options.loadAtOnce ?? true) this.load();
  }

  load(): void {
    if (this.status !== 'unloaded') return;
    this.status = 'loading';
    const { defaultWorkerUrl, newWorker, baseUrl } = this.#surroundings;
    const { workerUrl, modelUrl, runtimeUrl, wasmUrl } = this.#options;
    const absolute = (url: string | URL) => new URL(url, baseUrl()).href;
    try {
      this.#client = new WorkerClient({
        urls: { modelUrl: absolute(modelUrl), runtimeUrl: absolute(runtimeUrl), wasmUrl: absolute(wasmUrl) },
        worker: newWorker(absolute(workerUrl ?? defaultWorkerUrl())),
        onReady: (card) => {
          this.useCard(card);
          this.status = 'ready';
          this.#tick();
        },
        onEvaluated: (quantiles) => {
          const moment = this.#requested;
          this.#requested = undefined;
          if (moment !== undefined) this.publish(moment, quantiles);
        },
        onFailure: (error) => this.#fail(error),
      });
      this.#startTicking();
    } catch (error) {
      this.#fail(errorOf(error));
    }
  }

  close(): void {
    this.status = 'closed';
    this.fault = undefined;
    this.#release();
  }

  override start(context: SessionContext): void {
    // After a reported failure, maybe of the network, try again.
    if (this.status === 'failed' && this.fault === undefined) {
      this.status = 'unloaded';
      this.load();
    }
    super.start(context);
    this.#anchor = undefined;
    this.#requested = undefined;
  }

  override latest(nowSeconds: number): QuantileForecast | undefined {
    const newest = super.latest(nowSeconds);
    this.#anchor = { seconds: nowSeconds, ms: this.#surroundings.nowMs() };
    this.#request(nowSeconds);
    this.#startTicking();
    return newest;
  }

  /** Requests an evaluation, unless one is active or recent. */
  #request(nowSeconds: number): void {
    if (this.#client === undefined) return;
    const age = nowSeconds - (this.newest?.issuedAtMs ?? Number.NEGATIVE_INFINITY) / 1000;
    if (age >= 0 && age < LIFETIME_SECONDS) return;
    // Also while the model loads, because the first call is the slowest.
    const moment = this.inputsAt(nowSeconds);
    if (moment === undefined || !this.#client.isFree) return;
    this.#requested = moment;
    this.#client.evaluate(moment.inputs);
  }

  #fail(error: Error): void {
    this.status = 'failed';
    this.fault = error;
    this.#release();
  }

  #release(): void {
    this.#client?.end();
    this.#client = undefined;
    this.#endTicking();
    this.#requested = undefined;
    this.newest = undefined;
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
const SWITCHES = ['loadAtOnce', 'handover'];

function checkOptions(options: OnnxForecasterOptions): void {
  if (typeof options !== 'object' || options === null) throw new InputError('options', 'an object', options);
  const required = { modelUrl: undefined, runtimeUrl: undefined, wasmUrl: undefined };
  for (const [field, value] of Object.entries<unknown>({ ...required, ...options })) {
    const isUrl = value instanceof URL || (typeof value === 'string' && value !== '');
    if (value === undefined && !(field in required)) continue;
    if (SWITCHES.includes(field)) {
      if (typeof value !== 'boolean') throw new InputError(`options.${field}`, 'true or false', value);
    } else if (!URL_FIELDS.includes(field) || !isUrl) {
      const expected = URL_FIELDS.includes(field) ? 'a URL' : `one of ${[...URL_FIELDS, ...SWITCHES].join(', ')}`;
      throw new InputError(`options.${field}`, expected, value);
    }
  }
}
