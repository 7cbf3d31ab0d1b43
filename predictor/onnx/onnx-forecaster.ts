/**
 * A forecaster with an ONNX model, which onnxruntime-web evaluates in a Worker. The page only computes the features and
 * recalibrates the quantiles. Evaluations are requested five times a second during a session, so that `latest` has a
 * recent forecast; it never waits.
 */

import type { Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import type { ForecastMoment } from '../forecast/model-session.ts';
import type { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import { CardSession, LIFETIME_SECONDS } from './card-session.ts';
import type { FromWorker, ToWorker } from './inference.ts';
import type { ModelCard } from './model-card.ts';
import { checkOptions, type OnnxForecasterOptions, urlsOf } from './onnx-options.ts';

export type { OnnxForecasterOptions } from './onnx-options.ts';

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

/** Without a call of `latest` for this long, the session is paused or over. */
const REST_SECONDS = 15;
/** Timeouts count it: after a page was frozen, all deadlines pass before the waiting messages come. */
export const TICK_MS = 200;
/** 60 s: the runtime has 14 MB without compression. */
const LOADING_TICKS = 300;
/** 5 s: an evaluation takes well under a millisecond. */
const RESPONSE_TICKS = 25;

export class WorkerForecaster extends CardSession implements OnnxForecaster {
  readonly name = 'onnx';
  status: OnnxForecaster['status'] = 'unloaded';
  readonly #options: OnnxForecasterOptions;
  #newest: QuantileForecast | undefined;
  /** An error that `latest` has not thrown yet. */
  #fault: Error | undefined;
  /** Gets one request at a time. */
  #worker: Worker | undefined;
  /** Ticks until the timeout; undefined while no response is expected. */
  #ticksLeft: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** A time of the session's clock, and the page's clock then. */
  #anchor: { seconds: number; ms: number } | undefined;
  /** Undefined without a request of this session. */
  #requested: ForecastMoment | undefined;

  /** @throws {InputError} for invalid options. */
  constructor(options: OnnxForecasterOptions) {
    checkOptions(options);
    super(options);
    this.#options = options;
    if (options.loadAtOnce ?? true) this.load();
  }

  load(): void {
    if (this.status !== 'unloaded') return;
    this.status = 'loading';
    try {
      const { workerUrl, ...urls } = urlsOf(this.#options);
      const worker = new Worker(workerUrl, { type: 'module', name: 'leo-abr' });
      this.#worker = worker;
      this.#ticksLeft = LOADING_TICKS;
      const fail = (message: string) => worker === this.#worker && this.#fail(new Error(message));
      worker.addEventListener('message', ({ data }: { data: FromWorker }) => {
        try {
          if (worker === this.#worker) this.#receive(data);
        } catch (error) {
          fail(`the Worker sent an invalid message: ${errorOf(error).message}`);
        }
      });
      worker.addEventListener('error', ({ message }) => {
        // There is no message if the script cannot be fetched or may not run.
        fail(`the Worker ${workerUrl} ${message ? `failed: ${message}` : 'could not be started, or failed'}`);
      });
      worker.addEventListener('messageerror', () => fail('the Worker sent an unreadable message'));
      worker.postMessage({ kind: 'load', ...urls } satisfies ToWorker);
      this.#startTicking();
    } catch (error) {
      this.#fail(errorOf(error));
    }
  }

  close(): void {
    this.status = 'closed';
    this.#fault = undefined;
    this.#release();
  }

  override start(context: SessionContext): void {
    // After a reported failure, maybe of the network, try again.
    if (this.status === 'failed' && this.#fault === undefined) {
      this.status = 'unloaded';
      this.load();
    }
    this.#newest = undefined;
    super.start(context);
    this.#anchor = undefined;
    this.#requested = undefined;
  }

  /** The newest forecast. Throws an error since the previous call once. */
  latest(nowSeconds: number): QuantileForecast | undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault !== undefined) throw fault;
    const newest = this.#newest;
    this.#anchor = { seconds: nowSeconds, ms: performance.now() };
    this.#request(nowSeconds);
    this.#startTicking();
    return newest;
  }

  #receive(message: FromWorker): void {
    this.#ticksLeft = undefined;
    if (message.kind === 'failed') this.#fail(new Error(message.message));
    else if (message.kind === 'ready') {
      this.useCard(message.card);
      this.status = 'ready';
      this.#requestAtTick();
    } else {
      const moment = this.#requested;
      this.#requested = undefined;
      if (moment !== undefined) this.#newest = this.forecastOf(moment, message.quantiles);
    }
  }

  /** Requests an evaluation, unless one is active or recent. */
  #request(nowSeconds: number): void {
    if (this.#worker === undefined) return;
    const age = nowSeconds - (this.#newest?.issuedAtMs ?? Number.NEGATIVE_INFINITY) / 1000;
    if (age >= 0 && age < LIFETIME_SECONDS) return;
    // Also while the model loads, because the first call is the slowest.
    const moment = this.inputsAt(nowSeconds);
    if (moment === undefined || this.#ticksLeft !== undefined) return;
    this.#requested = moment;
    this.#ticksLeft = RESPONSE_TICKS;
    this.#worker.postMessage({ kind: 'evaluate', features: moment.inputs } satisfies ToWorker);
  }

  #fail(error: Error): void {
    this.status = 'failed';
    this.#fault = new Error(`${this.#options.modelUrl}: ${error.message}`, { cause: error });
    this.#release();
  }

  #release(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#ticksLeft = undefined;
    this.#stopTicking();
    this.#requested = undefined;
    this.#newest = undefined;
  }

  #startTicking(): void {
    if (this.#worker !== undefined) this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    if (this.#ticksLeft === undefined || this.#ticksLeft-- > 0) {
      this.#requestAtTick();
      return;
    }
    const isReady = this.status === 'ready';
    const seconds = ((isReady ? RESPONSE_TICKS : LOADING_TICKS) * TICK_MS) / 1000;
    this.#fail(new Error(`the Worker has not ${isReady ? 'answered' : 'loaded the model'} for ${seconds} s`));
  }

  /** Requests forecasts between decisions (a full buffer), so that the next decision finds a recent one. */
  #requestAtTick(): void {
    const { seconds, ms } = this.#anchor ?? { seconds: Number.NaN, ms: Number.NEGATIVE_INFINITY };
    const passedSeconds = (performance.now() - ms) / 1000;
    if (passedSeconds < REST_SECONDS) this.#request(seconds + passedSeconds);
    else if (this.#ticksLeft === undefined) this.#stopTicking();
  }

  #stopTicking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
