/**
 * A forecaster with an ONNX model, which onnxruntime-web evaluates in a Worker. The page only computes the features and
 * recalibrates the quantiles. It requests evaluations five times a second, so that `latest` never waits.
 */

import type { Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { type ForecastMoment, QuantileForecaster } from '../forecast/quantile-forecaster.ts';
import type { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import type { FromWorker, ToWorker } from './inference.ts';
import { cardModel, type ModelCard } from './model-card.ts';
import { checkOptions, type OnnxForecasterOptions, urlsOf } from './onnx-options.ts';

export type { OnnxForecasterOptions } from './onnx-options.ts';

export interface OnnxForecaster extends Forecaster {
  /** After `failed`, the next session tries again. */
  readonly status: 'unloaded' | 'loading' | 'ready' | 'failed' | 'closed';
  /** The model's card, once `ready`. */
  readonly card: ModelCard | undefined;
  /** The session's handover clock, which accepts better times and hints. */
  readonly handoverClock: HandoverClock | undefined;
  /** Loads the model; a second call does nothing. */
  load(): void;
  /** Ends the Worker and all forecasts. */
  close(): void;
}

/** Without a call of `latest` for this long, the session is paused or over. */
const REST_SECONDS = 15;
/** Timeouts count ticks, because the deadlines of a frozen page pass before its waiting messages come. */
export const TICK_MS = 200;
/** 60 s, because the runtime has 14 MB without compression. */
const LOADING_TICKS = 300;
/** 5 s. An evaluation takes well under a millisecond. */
const RESPONSE_TICKS = 25;

export class WorkerForecaster implements OnnxForecaster {
  readonly name = 'onnx';
  readonly isChecked = true;
  card: ModelCard | undefined;
  private readonly _session: QuantileForecaster;
  private _model: ReturnType<typeof cardModel> | undefined;
  status: OnnxForecaster['status'] = 'unloaded';
  private readonly _workerOptions: OnnxForecasterOptions;
  /** An error that the next `latest` throws. */
  private _fault: Error | undefined;
  private _worker: Worker | undefined;
  /** Ticks until the timeout; undefined while no response is expected. */
  private _ticksLeft: number | undefined;
  private _timer: ReturnType<typeof setInterval> | undefined;
  private _anchor: { seconds: number; ms: number } | undefined;
  private _requested: ForecastMoment | undefined;

  /** @throws {InputError} for invalid options. */
  constructor(options: OnnxForecasterOptions) {
    checkOptions(options);
    this._session = new QuantileForecaster(this.name, options);
    this._workerOptions = options;
    if (options.loadAtOnce ?? true) this.load();
  }

  load(): void {
    if (this.status !== 'unloaded') return;
    this.status = 'loading';
    try {
      const { workerUrl, ...urls } = urlsOf(this._workerOptions);
      const worker = new Worker(workerUrl, { type: 'module', name: 'leo-abr' });
      this._worker = worker;
      this._ticksLeft = LOADING_TICKS;
      const fail = (message: string) => worker === this._worker && this._fail(new Error(message));
      worker.addEventListener('message', ({ data }: { data: FromWorker }) => {
        try {
          if (worker === this._worker) this._receive(data);
        } catch (error) {
          fail(`the Worker sent an invalid message: ${errorOf(error).message}`);
        }
      });
      worker.addEventListener('error', ({ message }) => {
        // An error without a message: the script cannot be fetched or may not run.
        fail(`the Worker ${workerUrl} ${message ? `failed: ${message}` : 'could not be started, or failed'}`);
      });
      worker.addEventListener('messageerror', () => fail('the Worker sent an unreadable message'));
      worker.postMessage({ kind: 'load', ...urls } satisfies ToWorker);
      this._startTicking();
    } catch (error) {
      this._fail(errorOf(error));
    }
  }

  close(): void {
    this.status = 'closed';
    this._fault = undefined;
    this._release();
  }

  get handoverClock(): HandoverClock | undefined {
    return this._session.handoverClock;
  }

  start(context: SessionContext): void {
    // A reported failure may be the network's, so try again.
    if (this.status === 'failed' && this._fault === undefined) {
      this.status = 'unloaded';
      this.load();
    }
    this._session.start(context);
    this._anchor = undefined;
    this._requested = undefined;
  }

  observe(observation: Observation): void {
    this._session.observe(observation);
  }

  tellTime(...time: [atSeconds: number, utcMs: number, uncertaintySeconds: number]): void {
    this._session.tellTime(...time);
  }

  /** Throws each error once. */
  latest(nowSeconds: number): QuantileForecast | undefined {
    const fault = this._fault;
    this._fault = undefined;
    if (fault !== undefined) throw fault;
    const newest = this._worker && this._session.newest;
    this._anchor = { seconds: nowSeconds, ms: performance.now() };
    this._request(nowSeconds);
    this._startTicking();
    return newest;
  }

  private _receive(message: FromWorker): void {
    this._ticksLeft = undefined;
    if (message.kind === 'failed') this._fail(new Error(message.message));
    else if (message.kind === 'ready') {
      const { card } = message;
      this.card = card;
      this._model = cardModel(card);
      this._session.useModel(this._model);
      this.status = 'ready';
      this._requestAtTick();
    } else {
      const moment = this._requested;
      this._requested = undefined;
      if (moment !== undefined) this._session.forecast(moment, this._model!.valuesOf(message.quantiles));
    }
  }

  private _request(nowSeconds: number): void {
    if (this._worker === undefined || this._session.isRecent(nowSeconds)) return;
    // The inputs are computed even while the model loads, because the first call is the slowest.
    const moment = this._session.moment(nowSeconds);
    if (moment === undefined || this._model === undefined || this._ticksLeft !== undefined) return;
    this._requested = moment;
    this._ticksLeft = RESPONSE_TICKS;
    this._worker.postMessage({ kind: 'evaluate', features: this._model.inputsOf(moment.features) } satisfies ToWorker);
  }

  private _fail(error: Error): void {
    this.status = 'failed';
    this._fault = Object.assign(new Error(`${this._workerOptions.modelUrl}: ${error.message}`), { cause: error });
    this._release();
  }

  private _release(): void {
    if (this._worker) this._worker.terminate();
    this._worker = undefined;
    this._ticksLeft = undefined;
    this._stopTicking();
    this._requested = undefined;
  }

  private _startTicking(): void {
    if (this._worker !== undefined) this._timer ??= setInterval(() => this._tick(), TICK_MS);
  }

  private _tick(): void {
    if (this._ticksLeft === undefined || this._ticksLeft-- > 0) {
      this._requestAtTick();
      return;
    }
    const isReady = this.status === 'ready';
    const seconds = ((isReady ? RESPONSE_TICKS : LOADING_TICKS) * TICK_MS) / 1000;
    this._fail(new Error(`the Worker has not ${isReady ? 'answered' : 'loaded the model'} for ${seconds} s`));
  }

  /** Requests forecasts between decisions, so that the next decision has a recent forecast. */
  private _requestAtTick(): void {
    const { seconds, ms } = this._anchor ?? { seconds: Number.NaN, ms: Number.NEGATIVE_INFINITY };
    const passedSeconds = (performance.now() - ms) / 1000;
    if (passedSeconds < REST_SECONDS) this._request(seconds + passedSeconds);
    else if (this._ticksLeft === undefined) this._stopTicking();
  }

  private _stopTicking(): void {
    clearInterval(this._timer);
    this._timer = undefined;
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
