/** The page's side of the Worker: one request at a time, with a timeout. */

import type { FromWorker, ModelUrls, ToWorker } from './inference.ts';
import type { ModelCard } from './model-card.ts';

/** The used part of a Worker. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  addEventListener(type: 'message', listener: (event: { data: FromWorker }) => void): void;
  addEventListener(type: 'error' | 'messageerror', listener: (event: { message?: string }) => void): void;
}

interface WorkerClientOptions {
  worker: WorkerLike;
  urls: ModelUrls;
  onReady(card: ModelCard): void;
  onEvaluated(quantiles: Float32Array): void;
  /** Called at most once; the Worker has ended. */
  onFailure(error: Error): void;
}

/**
 * The period of `WorkerClient.tick`. Timeouts count ticks, because on a page that was frozen or asleep all deadlines
 * pass before it receives the waiting messages.
 */
export const TICK_MS = 200;
/** 60 s: the runtime has 14 MB without compression. */
const LOADING_TICKS = 300;
/** 5 s: an evaluation takes well under a millisecond. */
const RESPONSE_TICKS = 25;

export class WorkerClient {
  readonly #options: WorkerClientOptions;
  /** Ticks until the timeout; undefined while no response is expected. */
  #ticksLeft: number | undefined = LOADING_TICKS;
  #isReady = false;
  #hasEnded = false;

  constructor(options: WorkerClientOptions) {
    this.#options = options;
    const { worker, urls } = options;
    worker.addEventListener('message', ({ data }) => {
      try {
        this.#receive(data);
      } catch (error) {
        this.#fail(`the Worker sent an invalid message: ${error instanceof Error ? error.message : error}`);
      }
    });
    worker.addEventListener('error', ({ message }) => {
      // There is no message if the script cannot be fetched or may not run.
      this.#fail(message ? `the Worker failed: ${message}` : 'the Worker could not be started, or failed');
    });
    worker.addEventListener('messageerror', () => this.#fail('the Worker sent an unreadable message'));
    worker.postMessage({ kind: 'load', ...urls });
  }

  /** The model is loaded, and no response is expected. */
  get isFree(): boolean {
    return this.#isReady && this.#ticksLeft === undefined;
  }

  /** Whether ticks are needed. */
  get isWaiting(): boolean {
    return this.#ticksLeft !== undefined && !this.#hasEnded;
  }

  /** Requests an evaluation when `isFree`. */
  evaluate(features: Float32Array): void {
    this.#ticksLeft = RESPONSE_TICKS;
    this.#options.worker.postMessage({ kind: 'evaluate', features });
  }

  /** `TICK_MS` have passed. */
  tick(): void {
    if (this.#ticksLeft === undefined || this.#ticksLeft-- > 0) return;
    const ticks = this.#isReady ? RESPONSE_TICKS : LOADING_TICKS;
    const missing = this.#isReady ? 'answered' : 'loaded the model';
    this.#fail(`the Worker has not ${missing} for ${(ticks * TICK_MS) / 1000} s`);
  }

  /** Ends the Worker and all callbacks. */
  end(): void {
    this.#hasEnded = true;
    this.#options.worker.terminate();
  }

  #receive(message: FromWorker): void {
    if (this.#hasEnded) return;
    if (message.kind === 'failed') {
      this.#fail(message.message);
      return;
    }
    this.#ticksLeft = undefined;
    if (message.kind === 'ready') {
      this.#isReady = true;
      this.#options.onReady(message.card);
    } else this.#options.onEvaluated(message.quantiles);
  }

  #fail(message: string): void {
    if (this.#hasEnded) return;
    this.end();
    this.#options.onFailure(new Error(message));
  }
}
