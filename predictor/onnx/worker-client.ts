/** The page's end of the Worker: asks it one thing at a time, and calls it failed when it does not answer. */

import type { FromWorker, ModelSummary, ModelUrls, ToWorker } from './protocol.ts';

/** A Worker, as far as it is needed here. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  addEventListener(type: 'message', listener: (event: { data: FromWorker }) => void): void;
  addEventListener(type: 'error' | 'messageerror', listener: (event: { message?: string }) => void): void;
}

export interface WorkerClientOptions {
  worker: WorkerLike;
  urls: ModelUrls;
  /** Load all at once; else what is small alone, until `load` is called. */
  loadAtOnce: boolean;
  onReady(model: ModelSummary, card: string): void;
  onEvaluated(id: number, quantiles: Float32Array): void;
  /** Called once at most; the Worker has been ended. */
  onFailure(error: Error): void;
}

/**
 * `WorkerClient.tick` is called this often. Patience is counted in ticks and not by a clock, because a page that was
 * frozen or asleep finds all of its deadlines passed before it sees the answers that have been waiting.
 */
export const TICK_MS = 200;
/** 60 s: the runtime has 14 MB where a server does not compress it. */
const LOADING_TICKS = 300;
/** 5 s: an evaluation takes well under a millisecond. */
const ANSWER_TICKS = 25;

export class WorkerClient {
  readonly #options: WorkerClientOptions;
  /** Ticks that may still pass before an answer; undefined while none is awaited. */
  #patience: number | undefined;
  #isReady = false;
  #hasEnded = false;
  #lastId = 0;

  constructor(options: WorkerClientOptions) {
    this.#options = options;
    const { worker, urls, loadAtOnce } = options;
    worker.addEventListener('message', ({ data }) => {
      try {
        this.#receive(data);
      } catch (error) {
        this.#fail(`the Worker sent what cannot be worked with: ${error instanceof Error ? error.message : error}`);
      }
    });
    worker.addEventListener('error', ({ message }) => {
      // Without a message where the script cannot be had or may not run.
      this.#fail(message ? `the Worker failed: ${message}` : 'the Worker could not be started, or broke down');
    });
    worker.addEventListener('messageerror', () => this.#fail('the Worker sent what cannot be read'));
    if (loadAtOnce) this.load();
    else worker.postMessage({ kind: 'prepare', ...urls });
  }

  /** Loads what has not been loaded. To be called once at most. */
  load(): void {
    this.#patience = LOADING_TICKS;
    this.#options.worker.postMessage({ kind: 'load', ...this.#options.urls });
  }

  /** The model is loaded, and no answer is awaited. */
  get isFree(): boolean {
    return this.#isReady && this.#patience === undefined;
  }

  /** Whether ticks are needed. */
  get isWaiting(): boolean {
    return this.#patience !== undefined && !this.#hasEnded;
  }

  /** Has features evaluated; returns the id of the answer. To be called when `isFree`. */
  evaluate(features: Float32Array): number {
    this.#patience = ANSWER_TICKS;
    this.#options.worker.postMessage({ kind: 'evaluate', id: ++this.#lastId, features });
    return this.#lastId;
  }

  /** `TICK_MS` have passed. */
  tick(): void {
    if (this.#patience === undefined || this.#patience-- > 0) return;
    const ticks = this.#isReady ? ANSWER_TICKS : LOADING_TICKS;
    this.#fail(
      `the Worker has not ${this.#isReady ? 'answered' : 'loaded the model'} for ${(ticks * TICK_MS) / 1000} s`,
    );
  }

  /** Ends the Worker; nothing is called any more. */
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
    this.#patience = undefined;
    if (message.kind === 'ready') {
      this.#isReady = true;
      this.#options.onReady(message.model, message.card);
    } else this.#options.onEvaluated(message.id, message.quantiles);
  }

  #fail(message: string): void {
    if (this.#hasEnded) return;
    this.end();
    this.#options.onFailure(new Error(message));
  }
}
