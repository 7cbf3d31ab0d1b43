/**
 * The network side of the client: it reports observations twice a second while the player downloads, and requests the
 * forecast soon after each report. Failures are retried with random exponential backoff. No request stays open, because
 * a browser has only six connections to an origin over HTTP/1.1.
 */

import { check, describeValue, isFrom } from '../../abr/errors.ts';
import { disagreement, PROTOCOL, type ProtocolRange } from './protocol.ts';
import { ServerClock } from './server-clock.ts';

/** `refused`: the service rejects this page (token, origin, version), or is none. The client retries once a minute. */
export type ConnectionState = 'off' | 'connecting' | 'connected' | 'waiting' | 'refused';

/** `forecast` and `observedSeconds` are not checked yet. */
export interface ForecastReply {
  serverUtcMs: number;
  forecast?: unknown;
  observedSeconds?: unknown;
}

export interface ConnectionOptions {
  /** The service's URL, without a trailing slash. */
  url: string;
  /** Empty: none. */
  token: string;
  onForecast(reply: ForecastReply): void;
  /** The observations to report, and whether the player has been downloading since. */
  report(): { player: string; observations: unknown[]; isDownloading: boolean };
  onShare(share: number): void;
  /** The address is not, or not directly, the address of a service with a version of this client. */
  onFault(message: string): void;
}

const PERIOD_MS = 500;
/** Period of forecasts without observations to report. */
const IDLE_PERIOD_MS = 1000;
/** The service's forecast includes a report after this time. */
const FORECAST_DELAY_MS = 150;
/** Least pause before an urgent report. */
const SOON_MS = 100;
/** Period of reports without observations, which get the time and the share. */
const LONGEST_REPORT_PAUSE_MS = 5000;
const REQUEST_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** Period of requests that the service refuses. */
const RARE_RETRY_MS = 60_000;
const REFUSALS = [401, 403, 404];
/** Characters of a reply; a forecast has about 5000. */
const MOST_LENGTH = 1e6;
/** The latest time of a Date. */
const LATEST_UTC_MS = 8.64e15;

class Refused extends Error {}

export class ServiceConnection {
  readonly clock = new ServerClock();
  state: ConnectionState = 'off';
  /** The reason for `waiting` or `refused`. */
  detail: string | undefined;
  private _abort = new AbortController();
  private _wake = () => {};
  private _isResting = false;
  private _reportedMs = Number.NEGATIVE_INFINITY;
  private _isReportDue = false;

  constructor(private readonly _options: ConnectionOptions) {}

  open(): void {
    if (this.state !== 'off') return;
    this._abort = new AbortController();
    this._enter('connecting');
    void this._run(this._abort.signal);
  }

  close(): void {
    this._abort.abort();
    this._wake();
    this._enter('off');
  }

  /** The player begins or stops to download, so the next report is urgent. */
  hurry(): void {
    this._isReportDue = true;
    if (this._isResting) this._wake();
  }

  private async _run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let pauseMs: number;
      try {
        const isReported = await this._report(signal);
        if (isReported) await this._pause(FORECAST_DELAY_MS);
        if (signal.aborted) return;
        const reply = await this._request(signal, 'GET', '/v1/forecast');
        if (signal.aborted) return;
        this._options.onForecast(reply as ForecastReply);
        failures = 0;
        this._enter('connected');
        pauseMs = isReported ? PERIOD_MS - FORECAST_DELAY_MS : IDLE_PERIOD_MS;
      } catch (error) {
        if (signal.aborted) return;
        const isRefused = error instanceof Refused;
        this._enter(isRefused ? 'refused' : 'waiting', describeValue(error));
        pauseMs = isRefused ? RARE_RETRY_MS : this._backoffMs(++failures);
      }
      this._isResting = this.state === 'connected';
      if (!(this._isResting && this._isReportDue)) await this._pause(pauseMs);
      this._isResting = false;
    }
  }

  private _pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this._wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Returns whether it reported. Nothing is reported before the first forecast, which must not know this session. */
  private async _report(signal: AbortSignal): Promise<boolean> {
    const { report, onShare } = this._options;
    const soonMs = this._reportedMs + SOON_MS - performance.now();
    if (soonMs > 0) await this._pause(Math.min(soonMs, SOON_MS));
    if (signal.aborted) return false;
    const body = report();
    // `report` may have closed the connection.
    if (signal.aborted || !this.clock.isKnown) return false;
    const isOverdue = this._isReportDue || performance.now() - this._reportedMs >= LONGEST_REPORT_PAUSE_MS;
    if (!isOverdue && body.observations.length === 0) return false;
    this._isReportDue = false;
    this._reportedMs = performance.now();
    const reply = (await this._request(signal, 'POST', '/v1/observations', body)) as { share?: unknown } | null;
    const share = reply?.share;
    if (isFrom(share, 0, 1) && share > 0) onShare(share);
    return true;
  }

  /** @throws {Error} for a response without success */
  private async _request(signal: AbortSignal, method: string, path: string, body?: object): Promise<unknown> {
    const { url, token } = this._options;
    const limit = new AbortController();
    const abort = () => limit.abort();
    signal.addEventListener('abort', abort);
    const timer = setTimeout(abort, REQUEST_TIMEOUT_MS);
    const headers = {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    try {
      const sentMs = performance.now();
      const response = await fetch(`${url}${path}?protocol=${PROTOCOL.newest}`, {
        // Observations and token are for this address alone.
        ...{ method, headers, cache: 'no-store', redirect: 'manual', signal: limit.signal },
        ...(body && { body: JSON.stringify(body) }),
      });
      const { ok, status } = response;
      const receivedMs = performance.now();
      // In browsers, the status is 0.
      if (!ok && status < 400) this._refuse('expected success, got a redirect: name the final address');
      // A refusal because of the version states the service's versions.
      const reply = ok || status === 400 ? await jsonOf(response) : undefined;
      this._meet(reply, ok, sentMs, receivedMs);
      if (!ok) throw new (REFUSALS.includes(status) ? Refused : Error)(`expected success, got status ${status}`);
      return reply;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      // Ends a body that was not read.
      abort();
    }
  }

  /** Takes time and version of a reply. @throws {Refused} if it is no service's, or if there is no common version */
  private _meet(reply: unknown, isSuccess: boolean, sentMs: number, receivedMs: number): void {
    if (reply === undefined) return;
    const { serverUtcMs, protocol } = (reply || {}) as { serverUtcMs?: unknown; protocol?: Partial<ProtocolRange> };
    const { oldest, newest } = protocol || {};
    const stated = isFrom(oldest, 0, 1e9) && isFrom(newest, 0, 1e9) ? { oldest, newest } : undefined;
    const isService = !isSuccess || isFrom(serverUtcMs, 0, LATEST_UTC_MS);
    const fault = isService
      ? disagreement(PROTOCOL, stated)
      : `serverUtcMs: expected UTC in ms, got ${describeValue(serverUtcMs)}: is it a prediction service?`;
    if (fault !== undefined) this._refuse(fault);
    if (isSuccess) this.clock.sample(sentMs, receivedMs, serverUtcMs as number);
  }

  private _refuse(fault: string): never {
    this._options.onFault(fault);
    throw new Refused(fault);
  }

  private _enter(state: ConnectionState, detail?: string): void {
    this.state = state;
    this.detail = detail;
  }

  /** Doubles with each failure; random in the upper half, so that clients do not retry at the same time. */
  private _backoffMs(failures: number): number {
    const ms = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, failures));
    return ms * (0.5 + 0.5 * Math.random());
  }
}

async function jsonOf({ body }: Response): Promise<unknown> {
  check(body !== null, 'body', 'JSON', body);
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (let text = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return JSON.parse(text);
    text += decoder.decode(value, { stream: true });
    check(text.length < MOST_LENGTH, 'body', `at most ${MOST_LENGTH} characters`, text.length);
  }
}
