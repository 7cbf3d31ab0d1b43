/**
 * A forecaster whose model is an ONNX file, evaluated by onnxruntime-web in a Worker. Here on the page there is arithmetic
 * alone: features of the session's history out, quantiles in, recalibrated. Five times a second while a session is under
 * way, so that `latest` always has something of the last moments to read; it never waits.
 */

import { InputError } from '../../abr/errors.ts';
import type { Forecast, Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import type { HandoverClock } from '../handover-clock/handover-clock.ts';
import { FEATURES } from '../link-history.ts';
import { type ForecastMoment, ModelSession, type ModelSessionOptions } from '../model-session.ts';
import type { ModelCard } from './model-card.ts';
import { modelValues } from './model-values.ts';
import type { ModelSummary, ModelUrls } from './protocol.ts';
import { TICK_MS, WorkerClient, type WorkerLike } from './worker-client.ts';

/** URLs may be relative to the page. All of them have to be of the page's origin, or of one that allows it. */
export interface OnnxForecasterOptions extends ModelSessionOptions {
  /** The model: an ONNX file with a model card inside, such as `leo-abr/models/built-in.onnx`. */
  modelUrl: string | URL;
  /** The module of onnxruntime-web's `/wasm` build: `ort.wasm.bundle.min.mjs`, or what `onnxruntime-web/wasm` resolves to. */
  runtimeUrl: string | URL;
  /** `ort-wasm-simd-threaded.wasm` of the same onnxruntime-web. */
  wasmUrl: string | URL;
  /** `leo-abr/onnx-worker`. Default: `leo-abr.onnx-worker.js` beside this module. */
  workerUrl?: string | URL | undefined;
  /** Load all at once; with false, the `.wasm`, which is nearly all there is, waits for `load()`. Default true. */
  loadAtOnce?: boolean | undefined;
}

export interface OnnxForecaster extends Forecaster {
  /** `failed` until another session begins, which tries again. */
  readonly status: 'unloaded' | 'loading' | 'ready' | 'failed' | 'closed';
  /** The model's card, once it is `ready`. */
  readonly card: ModelCard | undefined;
  /** Absent with `handover: false`. May be told better times and hints; the forecaster itself tells it all it observes. */
  readonly handoverClock: HandoverClock | undefined;
  /** What the session's errors make of the forecasts' spread; 1 at first. */
  readonly spreadScale: number;
  /** Loads what has not been loaded; nothing where that was begun before. */
  load(): void;
  /** Ends the Worker: there are no forecasts any more. */
  close(): void;
}

/** What the forecaster needs of a page; tests hand in their own. */
export interface Surroundings {
  newWorker(url: string): WorkerLike;
  /** What relative URLs count from. */
  baseUrl(): string | undefined;
  defaultWorkerUrl(): string;
  /** A clock that runs evenly, in ms. */
  nowMs(): number;
  /** Calls back every so many ms until the function that it returns is called. */
  every(ms: number, callback: () => void): () => void;
}

/** A forecast is made anew after this long. */
const LIFETIME_SECONDS = 0.2;
/** A session that was not asked for a forecast for so long is paused or over: what it had is stale. */
const REST_SECONDS = 15;

type Status = OnnxForecaster['status'];

export class WorkerForecaster implements OnnxForecaster {
  readonly name = 'onnx';
  readonly #options: OnnxForecasterOptions;
  readonly #surroundings: Surroundings;
  readonly #session: ModelSession;
  readonly #features = new Float64Array(FEATURES.length);
  #client: WorkerClient | undefined;
  #stopTicking: (() => void) | undefined;
  #status: Status = 'unloaded';
  #model: ModelSummary | undefined;
  #cardJson: string | undefined;
  #card: ModelCard | undefined;
  /** Of the model's features: where they are in `FEATURES`. */
  #inputs: readonly number[] = [];
  /** What went wrong and has not been told yet. */
  #fault: Error | undefined;
  /** A moment of the session's clock, and when that was. */
  #anchor: { seconds: number; ms: number } | undefined;
  #asked: { id: number; moment: ForecastMoment } | undefined;
  #newest: QuantileForecast | undefined;

  /** Throws an `InputError` for options that cannot be worked with. */
  constructor(options: OnnxForecasterOptions, surroundings: Surroundings) {
    checkOptions(options);
    this.#options = options;
    this.#surroundings = surroundings;
    this.#session = new ModelSession(options);
    if (options.loadAtOnce ?? true) this.load();
    else this.#begin(false);
  }

  get status(): Status {
    return this.#status;
  }

  get card(): ModelCard | undefined {
    // Read when somebody asks: it is long.
    if (this.#cardJson !== undefined) this.#card ??= JSON.parse(this.#cardJson) as ModelCard;
    return this.#card;
  }

  get handoverClock(): HandoverClock | undefined {
    return this.#session.handoverClock;
  }

  get spreadScale(): number {
    return this.#session.spreadScale;
  }

  load(): void {
    if (this.#status !== 'unloaded') return;
    this.#status = 'loading';
    if (this.#client === undefined) this.#begin(true);
    else this.#client.load();
    this.#tickOn();
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

  start(context: SessionContext): void {
    // What has failed and been told may have been the network's fault.
    if (this.#status === 'failed' && this.#fault === undefined) {
      this.#status = 'unloaded';
      this.load();
    }
    this.#session.start(context);
    this.#anchor = undefined;
    this.#asked = undefined;
    this.#newest = undefined;
  }

  observe(observation: Observation): void {
    this.#session.observe(observation);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    this.#session.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  /** The newest forecast that has come. Throws once what went wrong in the meantime. */
  latest(nowSeconds: number): Forecast | undefined {
    const fault = this.#fault;
    if (fault !== undefined) {
      this.#fault = undefined;
      throw fault;
    }
    this.#anchor = { seconds: nowSeconds, ms: this.#surroundings.nowMs() };
    this.#ask(nowSeconds);
    this.#tickOn();
    return this.#newest;
  }

  #absolute(url: string | URL): string {
    return new URL(url, this.#surroundings.baseUrl()).href;
  }

  #use(model: ModelSummary, card: string): void {
    this.#inputs = model.features.map((name) => FEATURES.findIndex((feature) => feature.name === name));
    this.#session.useModel(model);
    this.#model = model;
    this.#cardJson = card;
    this.#card = undefined;
    this.#status = 'ready';
    this.#tick();
  }

  /** Has the present moment evaluated, unless one is under way or was just now. */
  #ask(nowSeconds: number): void {
    const client = this.#client;
    if (client === undefined) return;
    const age = nowSeconds - (this.#newest?.issuedAtMs ?? Number.NEGATIVE_INFINITY) / 1000;
    if (age >= 0 && age < LIFETIME_SECONDS) return;
    // While the model loads too: the first time takes longest, and is over before there is more to do.
    const moment = this.#session.moment(nowSeconds, this.#features);
    if (moment === undefined || !client.isFree) return;
    const features = Float32Array.from(this.#inputs, (at) => this.#features[at]!);
    this.#asked = { id: client.evaluate(features), moment };
  }

  #publish(id: number, quantiles: Float32Array): void {
    // One of an earlier session.
    if (id !== this.#asked?.id) return;
    const { moment } = this.#asked;
    this.#asked = undefined;
    const model = this.#model!;
    this.#newest = this.#session.forecast(moment, `model:${model.name}`, modelValues(quantiles, model));
  }

  #fail(error: Error): void {
    this.#status = 'failed';
    this.#fault = error;
    this.#release();
  }

  #release(): void {
    this.#client?.end();
    this.#client = undefined;
    this.#stopTicking?.();
    this.#stopTicking = undefined;
    this.#asked = undefined;
    this.#newest = undefined;
  }

  #tickOn(): void {
    if (this.#client === undefined) return;
    this.#stopTicking ??= this.#surroundings.every(TICK_MS, () => {
      this.#client?.tick();
      this.#tick();
    });
  }

  /** Between decisions, as with a full buffer, nobody asks for forecasts; the next decision is to find a fresh one. */
  #tick(): void {
    const { seconds, ms } = this.#anchor ?? { seconds: Number.NaN, ms: 0 };
    const passedSeconds = (this.#surroundings.nowMs() - ms) / 1000;
    const isUnderWay = this.#anchor !== undefined && passedSeconds < REST_SECONDS;
    if (isUnderWay) this.#ask(seconds + passedSeconds);
    else if (!this.#client?.isWaiting) {
      this.#stopTicking?.();
      this.#stopTicking = undefined;
    }
  }
}

const URL_FIELDS = ['modelUrl', 'runtimeUrl', 'wasmUrl', 'workerUrl'];
const SWITCHES = ['loadAtOnce', 'handover', 'recalibrate'];

function checkOptions(options: OnnxForecasterOptions): void {
  if (typeof options !== 'object' || options === null) throw new InputError('options', 'an object', options);
  const given = new Map<string, unknown>(Object.entries(options));
  for (const field of URL_FIELDS) {
    const value = given.get(field);
    const isUrl = value instanceof URL || (typeof value === 'string' && value !== '');
    if (!isUrl && !(field === 'workerUrl' && value === undefined))
      throw new InputError(`options.${field}`, 'a URL', value);
  }
  for (const [field, value] of given) {
    const isSwitch = SWITCHES.includes(field);
    if (!isSwitch && !URL_FIELDS.includes(field)) {
      throw new InputError(`options.${field}`, `one of ${[...URL_FIELDS, ...SWITCHES].join(', ')}`, value);
    }
    if (isSwitch && value !== undefined && typeof value !== 'boolean') {
      throw new InputError(`options.${field}`, 'true or false', value);
    }
  }
}
