/**
 * The network side of the client: one stream of events, reports twice a second, and plain requests if streams fail. All
 * players of a page share the connection to a service, because a browser opens only six connections to an origin over
 * HTTP/1.1, and each stream holds one: media of the same origin would wait. Failures are retried with random exponential
 * backoff. Nothing here throws or waits.
 */

import { EventParser } from './event-parser.ts';
import { disagreement, PROTOCOL, type ProtocolRange } from './protocol.ts';
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

/** The used part of the browser's `LockManager`. */
export interface Locks {
  request(
    name: string,
    options: { ifAvailable: true },
    act: (lock: object | null) => Promise<void> | void,
  ): Promise<void>;
}

/** Calls back after a delay; the returned function cancels it. */
export type After = (ms: number, act: () => void) => () => void;

/** `refused`: the service rejects this page (token, origin, version); retried once a minute. */
export type ConnectionState = 'off' | 'connecting' | 'streaming' | 'polling' | 'waiting' | 'refused';

/** A way to a service. Players with the same one share a connection. */
export interface ServiceRoute {
  /** Without a trailing slash. */
  url: string;
  token: string | undefined;
  fetch: Fetch;
  /** A monotonic clock in ms. */
  now: () => number;
  random: () => number;
  after: After;
  locks: Locks | undefined;
}

/** A player that uses a connection. */
export interface ServiceUser {
  /** Receives a `ForecastReply` that has not been validated. */
  onForecast(reply: unknown): void;
  /** What to report now: the player's random name, and whether it has been downloading since its observations. */
  report(): { player: string; observations: unknown[]; isDownloading: boolean };
  onShare(share: number): void;
  /** `detail`: why it failed. */
  onState(detail?: string): void;
  /** Client and service have no version in common. */
  onFault(message: string): void;
}

const REPORT_MS = 500;
/** Least pause before a report that cannot wait. */
const SOON_MS = 100;
/** Period of reports without observations, which request the time and the share. */
const LONGEST_REPORT_PAUSE_MS = 5000;
const REQUEST_TIMEOUT_MS = 2000;
const POLL_MS = 1000;
/** The service sends an event at least every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Period of attempts to stream while polling, and of requests that the service refuses. */
const RARE_RETRY_MS = 60_000;
/** A shorter stream counts as a failure. */
const SHORT_STREAM_MS = 3000;
/** Failures of streams in a row before polling. */
const FAILURES_UNTIL_POLLING = 3;
const REFUSALS = [401, 403, 404];
/** Players per request: the service accepts 64 KiB, and a player has up to 50 observations of about 110 bytes. */
const REPORTS_TOGETHER = 10;

/** Connections with users. */
const shared = new Set<ServiceConnection>();

class Refused extends Error {}

export class ServiceConnection {
  readonly clock = new ServerClock();
  readonly #options: ServiceRoute;
  readonly #users = new Set<ServiceUser>();
  #abort = new AbortController();
  readonly #cancels = new Map<string, () => void>();
  #state: ConnectionState = 'off';
  #streamFailures = 0;
  #reportFailures = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #isReportDue = false;
  /** Older services ignore the reports of others. */
  #takesOthers = true;

  constructor(route: ServiceRoute) {
    this.#options = route;
  }

  /** The connection that players of this page already use to the same service, or this one. */
  get shared(): ServiceConnection {
    const route = this.#options;
    const names = Object.keys(route) as (keyof ServiceRoute)[];
    return [...shared].find((one) => names.every((name) => one.#options[name] === route[name])) ?? this;
  }

  state(user: ServiceUser): ConnectionState {
    return this.#users.has(user) ? this.#state : 'off';
  }

  /** Opens the connection for its first user; for a further one, ends the pause that follows failures. */
  join(user: ServiceUser): void {
    this.#users.add(user);
    shared.add(this);
    if (['off', 'waiting', 'refused'].includes(this.#state)) this.#open();
    else user.onState();
  }

  /** Closes the connection of the last user. */
  leave(user: ServiceUser): void {
    if (!this.#users.delete(user)) return;
    if (this.#users.size === 0) {
      shared.delete(this);
      this.#stop();
      this.#state = 'off';
    }
    user.onState();
  }

  /** A user begins or stops to download: the service need not wait for its next regular report. */
  hurry(): void {
    this.#isReportDue = true;
    // Otherwise a report is on its way, or waits after failures.
    if (this.#cancels.has('report') && this.#reportFailures === 0) {
      this.#reportAfter(this.#reportedMs + SOON_MS - this.#options.now(), this.#abort.signal);
    }
  }

  #open(): void {
    this.#stop();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#streamFailures = 0;
    this.#reportFailures = 0;
    this.#enter('connecting');
    void this.#firstForecast(signal);
    void this.#report(signal);
    void this.#streamOrPoll(signal);
  }

  /** Without the session's reports in it, so that the session can compare it with its own measurements. */
  async #firstForecast(signal: AbortSignal): Promise<void> {
    try {
      this.#forecast(await this.#ask(signal, 'GET', '/v1/forecast'));
    } catch {
      // The stream reports what is wrong.
    }
  }

  #stop(): void {
    this.#abort.abort();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
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

  /** Users may leave and join when they are told. */
  #enter(state: ConnectionState, detail?: string): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const user of this.#users) if (this.#state === state) user.onState(detail);
  }

  #forecast(reply: unknown): void {
    for (const user of this.#users) user.onForecast(reply);
  }

  /** `path`: with a query. @throws {Error} for a response without success */
  async #fetch(path: string, { headers, ...rest }: Omit<Parameters<Fetch>[1], 'cache'>): ReturnType<Fetch> {
    const { url, token, fetch } = this.#options;
    const response = await fetch(`${url}${path}protocol=${PROTOCOL.newest}`, {
      ...rest,
      headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
      cache: 'no-store',
    });
    const { ok, status } = response;
    if (ok) return response;
    // A refusal because of the version states the service's.
    if (status === 400) this.#meet(await response.json(), 0, 0);
    throw new (REFUSALS.includes(status) ? Refused : Error)(`expected success, got status ${status}`);
  }

  /** One page of the browser streams, because all together have six connections over HTTP/1.1; the others poll. */
  async #streamOrPoll(outer: AbortSignal): Promise<void> {
    const { locks, url } = this.#options;
    if (!locks) return this.#stream(outer);
    const act = (lock: object | null) => (lock ? this.#stream(outer) : this.#pollInstead(outer));
    // The browser refuses locks to a page without storage, as in a sandbox.
    return locks.request(url, { ifAvailable: true }, act).catch(() => this.#stream(outer));
  }

  /** Polls, and rarely tries to stream. */
  #pollInstead(outer: AbortSignal): void {
    this.#streamAfter(this.#rarelyMs(), outer);
    if (!outer.aborted && !this.#cancels.has('poll')) void this.#poll(outer, 0);
  }

  #streamAfter(ms: number, outer: AbortSignal): void {
    this.#later('stream', ms, outer, () => this.#streamOrPoll(outer));
  }

  #rarelyMs(): number {
    return RARE_RETRY_MS * (0.8 + 0.4 * this.#options.random());
  }

  async #stream(outer: AbortSignal): Promise<void> {
    if (outer.aborted) return;
    const { now } = this.#options;
    const limit = this.#timeout(outer, SILENCE_MS);
    const sentMs = now();
    let openedMs = Number.NaN;
    let failure: unknown = new Error('the stream has ended');
    try {
      // Without the id of the last event, because missed events are older than the next forecast.
      const headers = { accept: 'text/event-stream' };
      const path = '/v1/events?types=forecast,clock&';
      const response = await this.#fetch(path, { method: 'GET', headers, signal: limit.signal });
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error('this browser does not stream responses');
      const parser = new EventParser();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        limit.restart();
        for (const { type, data } of parser.push(decoder.decode(value, { stream: true }))) {
          // Throws at the first event if the versions differ.
          this.#take(type, JSON.parse(data), sentMs);
          openedMs ||= now();
          this.#cancels.get('poll')?.();
          this.#cancels.delete('poll');
          this.#enter('streaming');
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
    const isRefused = failure instanceof Refused;
    if (!isRefused && this.#streamFailures >= FAILURES_UNTIL_POLLING) return this.#pollInstead(outer);
    this.#enter(isRefused ? 'refused' : 'waiting', messageOf(failure));
    const pauseMs = isRefused ? this.#rarelyMs() : this.#backoffMs(this.#streamFailures);
    this.#streamAfter(pauseMs, outer);
  }

  #take(type: string, data: unknown, sentMs: number): void {
    if (type === 'hello') this.#meet(data, sentMs, this.#options.now());
    else if (type === 'forecast') this.#forecast(data);
    // The service's clock has leapt: the response to the next report gives the new time.
    else if (type === 'clock') this.hurry();
  }

  /** Takes time and version of a reply. @throws {Refused} if there is no common version */
  #meet(reply: unknown, sentMs: number, receivedMs: number): void {
    const { serverUtcMs, protocol } = (reply ?? {}) as { serverUtcMs?: unknown; protocol?: ProtocolRange };
    const fault = disagreement(PROTOCOL, protocol);
    if (fault !== undefined) {
      for (const user of this.#users) user.onFault(fault);
      throw new Refused(fault);
    }
    if (typeof serverUtcMs === 'number') this.clock.sample(sentMs, receivedMs, serverUtcMs);
  }

  async #poll(signal: AbortSignal, failures: number): Promise<void> {
    try {
      this.#forecast(await this.#ask(signal, 'GET', '/v1/forecast'));
      if (signal.aborted || this.#state === 'streaming') return;
      // The service responds again, so try to stream.
      if (this.#state !== 'polling') this.#streamAfter(POLL_MS, signal);
      this.#enter('polling');
      this.#later('poll', POLL_MS, signal, () => this.#poll(signal, 0));
    } catch (error) {
      if (signal.aborted || this.#state === 'streaming') return;
      this.#enter(error instanceof Refused ? 'refused' : 'waiting', messageOf(error));
      this.#later('poll', this.#backoffMs(failures + 1), signal, () => this.#poll(signal, failures + 1));
    }
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { now } = this.#options;
    let pauseMs = REPORT_MS;
    try {
      const users = [...this.#users];
      const reports = users.map((user) => user.report());
      // `report` may have closed the connection.
      if (signal.aborted) return;
      const isDue = this.#isReportDue || !this.clock.isKnown || now() - this.#reportedMs >= LONGEST_REPORT_PAUSE_MS;
      if (isDue || reports.some(({ observations }) => observations.length > 0)) {
        this.#isReportDue = false;
        this.#reportedMs = now();
        await this.#send(users, reports, signal);
        this.#reportFailures = 0;
      }
    } catch (error) {
      this.#reportFailures++;
      pauseMs = error instanceof Refused ? RARE_RETRY_MS : this.#backoffMs(this.#reportFailures);
    }
    this.#reportAfter(pauseMs, signal);
  }

  #reportAfter(ms: number, signal: AbortSignal): void {
    this.#later('report', ms, signal, () => this.#report(signal));
  }

  /** Sends the reports of all users in one request, or one by one to an older service. */
  async #send(users: ServiceUser[], reports: object[], signal: AbortSignal): Promise<void> {
    for (let sent = 0; sent < reports.length; ) {
      const [first, ...others] = reports.slice(sent, sent + (this.#takesOthers ? REPORTS_TOGETHER : 1));
      const body = JSON.stringify(others.length > 0 ? { ...first, others } : first);
      const reply = (await this.#ask(signal, 'POST', '/v1/observations', body)) as { others?: unknown[] } | null;
      const answers = [reply, ...(reply?.others ?? [])] as ({ share?: unknown } | null)[];
      this.#takesOthers &&= answers.length > others.length;
      for (const answer of answers) {
        const share = answer?.share;
        if (typeof share === 'number' && share > 0 && share <= 1) users[sent]?.onShare(share);
        sent++;
      }
    }
  }

  async #ask(outer: AbortSignal, method: string, path: string, body?: string): Promise<unknown> {
    const { now } = this.#options;
    const limit = this.#timeout(outer, REQUEST_TIMEOUT_MS);
    try {
      const sentMs = now();
      const sent = body === undefined ? { headers: {} } : { headers: { 'content-type': 'application/json' }, body };
      const response = await this.#fetch(`${path}?`, { method, ...sent, signal: limit.signal });
      const receivedMs = now();
      const reply = await response.json();
      this.#meet(reply, sentMs, receivedMs);
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
