/**
 * The network side of the client: one stream of events, reports twice a second, and plain requests if streams fail.
 * Failures are retried with random exponential backoff. Nothing here throws or waits.
 */

import { EventParser } from './event-parser.ts';
import { ServerClock } from './server-clock.ts';

/** The used part of `fetch`. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; cache: 'no-store'; signal: AbortSignal },
) => Promise<{
  ok: boolean;
  status: number;
  json(): Promise<unknown>;
  body: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> } } | null;
}>;

/** Calls back after a delay; the returned function cancels it. */
export type After = (ms: number, act: () => void) => () => void;

/** `refused`: the service rejects this page (token, origin); retried once a minute. */
export type ConnectionState = 'off' | 'connecting' | 'streaming' | 'polling' | 'waiting' | 'refused';

interface ConnectionOptions {
  /** Without a trailing slash. */
  url: string;
  token: string | undefined;
  fetch: Fetch;
  /** A monotonic clock in ms. */
  now: () => number;
  random: () => number;
  after: After;
  /** Receives a `ForecastReply` that has not been validated. */
  onForecast(reply: unknown): void;
  /** The observations to report now, in UTC of the service. */
  report(): unknown[];
  onShare(share: number): void;
  onState(state: ConnectionState, detail: string | undefined): void;
}

const REPORT_MS = 500;
/** Period of reports without observations, which request the time and the share. */
const LONGEST_REPORT_PAUSE_MS = 5000;
const REQUEST_TIMEOUT_MS = 2000;
const POLL_MS = 1000;
/** Period of attempts to stream while polling. */
const STREAM_AGAIN_MS = 60_000;
/** The service sends an event at least every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
const REFUSED_RETRY_MS = 60_000;
/** A shorter stream counts as a failure. */
const SHORT_STREAM_MS = 3000;
/** Failures of streams in a row before polling. */
const FAILURES_UNTIL_POLLING = 3;
const REFUSALS = [401, 403, 404];

class Refused extends Error {}

export class ServiceConnection {
  readonly clock = new ServerClock();
  readonly #options: ConnectionOptions;
  readonly #player: string;
  #abort: AbortController | undefined;
  readonly #cancels = new Map<string, () => void>();
  #state: ConnectionState = 'off';
  #streamFailures = 0;
  #reportFailures = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#player = `page-${Math.floor(options.random() * 2 ** 52).toString(36)}`;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  open(): void {
    if (this.#state !== 'off') return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#streamFailures = 0;
    this.#reportFailures = 0;
    this.#enter('connecting');
    void this.#report(signal);
    void this.#stream(signal);
  }

  close(): void {
    this.#abort?.abort();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
    this.#enter('off');
  }

  /** Schedules `act` instead of the previous one of that name, unless the connection was closed. */
  #later(name: 'stream' | 'report' | 'poll', ms: number, signal: AbortSignal, act: () => Promise<void>): void {
    if (signal.aborted) return;
    this.#cancels.get(name)?.();
    this.#cancels.set(
      name,
      this.#options.after(ms, () => {
        this.#cancels.delete(name);
        void act();
      }),
    );
  }

  /** The listener may close and reopen the connection. */
  #enter(state: ConnectionState, detail?: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState(state, detail);
  }

  #headers(more: Record<string, string>): Record<string, string> {
    const { token } = this.#options;
    return token === undefined ? more : { ...more, authorization: `Bearer ${token}` };
  }

  async #stream(outer: AbortSignal): Promise<void> {
    if (outer.aborted) return;
    const { url, fetch, now, random } = this.#options;
    const limit = this.#timeout(outer, SILENCE_MS);
    const sentMs = now();
    let openedMs = Number.NaN;
    let failure: unknown = new Error('the stream has ended');
    try {
      // Without the id of the last event, because missed events are older than the next forecast.
      const headers = this.#headers({ accept: 'text/event-stream' });
      const init = { method: 'GET', headers, cache: 'no-store' as const, signal: limit.signal };
      const response = await fetch(`${url}/v1/events?types=forecast,clock`, init);
      if (!response.ok) throw wrongStatus(response.status);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error('this browser does not stream responses');
      const parser = new EventParser();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        limit.restart();
        for (const { type, data } of parser.push(decoder.decode(value, { stream: true }))) {
          if (Number.isNaN(openedMs)) {
            openedMs = now();
            this.#cancels.get('poll')?.();
            this.#cancels.delete('poll');
            this.#enter('streaming');
          }
          this.#take(type, JSON.parse(data), sentMs, outer);
        }
      }
    } catch (error) {
      failure = error;
    } finally {
      limit.end();
    }
    if (outer.aborted) return;
    const lasted = now() - openedMs;
    this.#streamFailures = lasted > SHORT_STREAM_MS ? 0 : this.#streamFailures + 1;
    if (failure instanceof Refused) {
      this.#enter('refused', failure.message);
      this.#later('stream', REFUSED_RETRY_MS * (0.8 + 0.4 * random()), outer, () => this.#stream(outer));
      return;
    }
    if (this.#streamFailures >= FAILURES_UNTIL_POLLING) {
      this.#later('stream', STREAM_AGAIN_MS * (0.8 + 0.4 * random()), outer, () => this.#stream(outer));
      if (!this.#cancels.has('poll')) void this.#poll(outer, 0);
      return;
    }
    this.#enter('waiting', messageOf(failure));
    this.#later('stream', this.#backoffMs(this.#streamFailures), outer, () => this.#stream(outer));
  }

  #take(type: string, data: unknown, sentMs: number, signal: AbortSignal): void {
    if (type === 'hello') this.#sampleClock(data, sentMs, this.#options.now());
    else if (type === 'forecast') this.#options.onForecast(data);
    // The service's clock has leapt: the response to the next report gives the new time.
    else if (type === 'clock') {
      this.#reportedMs = Number.NEGATIVE_INFINITY;
      this.#later('report', 0, signal, () => this.#report(signal));
    }
  }

  #sampleClock(reply: unknown, sentMs: number, receivedMs: number): void {
    const serverUtcMs = (reply as { serverUtcMs?: unknown } | null)?.serverUtcMs;
    if (typeof serverUtcMs === 'number') this.clock.sample(sentMs, receivedMs, serverUtcMs);
  }

  async #poll(signal: AbortSignal, failures: number): Promise<void> {
    try {
      this.#options.onForecast(await this.#ask(signal, 'GET', '/v1/forecast'));
      if (signal.aborted || this.#state === 'streaming') return;
      // The service responds again, so try to stream.
      if (this.#state !== 'polling') this.#later('stream', POLL_MS, signal, () => this.#stream(signal));
      this.#enter('polling');
      this.#later('poll', POLL_MS, signal, () => this.#poll(signal, 0));
    } catch (error) {
      if (signal.aborted || this.#state === 'streaming') return;
      this.#enter(error instanceof Refused ? 'refused' : 'waiting', messageOf(error));
      this.#later('poll', this.#backoffMs(failures + 1), signal, () => this.#poll(signal, failures + 1));
    }
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { now, report, onShare } = this.#options;
    let pauseMs = REPORT_MS;
    try {
      const observations = this.clock.isKnown ? report() : [];
      // `report` may have closed the connection.
      if (signal.aborted) return;
      if (observations.length > 0 || now() - this.#reportedMs >= LONGEST_REPORT_PAUSE_MS || !this.clock.isKnown) {
        this.#reportedMs = now();
        const body = JSON.stringify({ player: this.#player, observations });
        const reply = (await this.#ask(signal, 'POST', '/v1/observations', body)) as { share?: unknown } | null;
        const share = reply?.share;
        if (typeof share === 'number' && share > 0 && share <= 1) onShare(share);
        this.#reportFailures = 0;
      }
    } catch (error) {
      this.#reportFailures++;
      pauseMs = error instanceof Refused ? REFUSED_RETRY_MS : this.#backoffMs(this.#reportFailures);
    }
    this.#later('report', pauseMs, signal, () => this.#report(signal));
  }

  async #ask(outer: AbortSignal, method: string, path: string, body?: string): Promise<unknown> {
    const { url, fetch, now } = this.#options;
    const limit = this.#timeout(outer, REQUEST_TIMEOUT_MS);
    try {
      const sentMs = now();
      const headers = this.#headers(body === undefined ? {} : { 'content-type': 'application/json' });
      const init = { method, headers, cache: 'no-store' as const, signal: limit.signal };
      const response = await fetch(`${url}${path}`, body === undefined ? init : { ...init, body });
      const receivedMs = now();
      if (!response.ok) throw wrongStatus(response.status);
      const reply = await response.json();
      this.#sampleClock(reply, sentMs, receivedMs);
      return reply;
    } finally {
      limit.end();
    }
  }

  /** A signal that aborts with `outer`, `ms` after its last restart, and at the end. */
  #timeout(outer: AbortSignal, ms: number) {
    const own = new AbortController();
    const abort = () => own.abort();
    outer.addEventListener('abort', abort);
    let cancel = this.#options.after(ms, abort);
    const restart = () => {
      cancel();
      cancel = this.#options.after(ms, abort);
    };
    const end = () => {
      cancel();
      abort();
      outer.removeEventListener('abort', abort);
    };
    return { signal: own.signal, restart, end };
  }

  /** Doubles with each failure; random in the upper half, so that clients do not retry at the same time. */
  #backoffMs(failures: number): number {
    const ms = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, failures));
    return ms * (0.5 + 0.5 * this.#options.random());
  }
}

function wrongStatus(status: number): Error {
  const message = `expected a successful response, got status ${status}`;
  return REFUSALS.includes(status) ? new Refused(message) : new Error(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
