/**
 * A forecaster that uses the prediction service beside the dish (`leo-abr serve`): it reports the session's
 * observations and converts the service's forecasts to the session's clock. For browsers; no dependencies. It never
 * waits: without a recent and trusted forecast `latest` gives undefined, and the chain uses the next forecaster.
 */

import { check, InputError, isPositive, requireObject } from '../../abr/errors.ts';
import {
  ageSecondsOf,
  type Forecaster,
  type Observation,
  type QuantileForecast,
  type SessionContext,
} from '../../abr/forecast.ts';
import { validForecast } from '../../abr/valid-forecast.ts';
import { ForecastGate, type Verdict } from './forecast-gate.ts';
import { needsTls } from './needs-tls.ts';
import { type ConnectionState, ServiceConnection } from './service-connection.ts';
import { WaitingObservations } from './waiting-observations.ts';

export interface ServiceForecasterOptions {
  /** Bearer token, if the service requires one. */
  token?: string;
  /** A forecast of this age is not used. Default 3. */
  staleSeconds?: number;
}

export interface ServiceForecasterState {
  connection: ConnectionState;
  /** The reason for `waiting` or `refused`. */
  detail?: string;
  verdict: Verdict;
  /** Age of the newest forecast; absent before the first. */
  ageSeconds?: number;
  /** This player's share of the link's traffic; below 1, others use the link, and the forecasts are not used. */
  share: number;
}

export interface ServiceForecaster extends Forecaster {
  readonly state: ServiceForecasterState;
  /** Connects anew at the next call of `latest`, without the pause that follows failures. */
  reconnect(): void;
  /** Ends the connection; `start` opens it again. */
  close(): void;
}

/** Forecasts arrive at least once a second; one may be lost. */
const STALE_SECONDS = 3;
/** Without calls of `latest` for this long the connection is closed, until the next call. */
const UNUSED_MS = 60_000;
/** Without observations for this long the player does not download: they come in steps of 0.1 s. */
const QUIET_MS = 300;

/**
 * `url`: of the service, like `http://127.0.0.1:8790`. On a page from https, a service on another machine must also use
 * https; otherwise `start` throws, which a chain of forecasters reports once.
 * @throws {InputError} for an invalid URL or option.
 */
export function createServiceForecaster(url: string, options: ServiceForecasterOptions = {}): ServiceForecaster {
  return new RemoteForecaster(serviceUrl(url), options);
}

class RemoteForecaster implements ServiceForecaster {
  readonly name = 'service';
  readonly #url: string;
  readonly #connection: ServiceConnection;
  readonly #gate = new ForecastGate();
  readonly #staleSeconds: number;
  readonly #waiting = new WaitingObservations();
  #isDownloading = false;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;
  /** The page's clock at second 0 of the session; undefined before the first call of `latest`. */
  #startMs: number | undefined;
  /** UTC of the session's time source at its second 0. */
  #sessionUtcMs: number | undefined;
  #share = 1;
  #usedMs = Number.NEGATIVE_INFINITY;
  /** In UTC of the service. */
  #newest: QuantileForecast | undefined;
  /** Downloading that the service has observed; undefined if it does not report that. */
  #experienceSeconds: number | undefined;
  /** On the session's clock, cached per forecast and clock. */
  #converted: { of: QuantileForecast; startMs: number; forecast: QuantileForecast } | undefined;
  /** Until the next session: closed, or forbidden by the browser. */
  #isClosed = false;
  #fault: string | undefined;

  constructor(url: string, options: unknown) {
    const { staleSeconds = STALE_SECONDS, token = '', ...others } = requireObject(options, 'options');
    for (const name of Object.keys(others)) check(false, `options.${name}`, 'token or staleSeconds', others[name]);
    check(typeof token === 'string', 'options.token', 'a string', token);
    check(isPositive(staleSeconds), 'options.staleSeconds', 'a finite number > 0', staleSeconds);
    this.#staleSeconds = staleSeconds;
    this.#url = url;
    const player = `page-${Math.random().toString(36).slice(2)}`;
    this.#connection = new ServiceConnection({
      ...{ url: url.replace(/\/$/, ''), token },
      onForecast: (reply) => this.#receive(reply),
      report: () => ({ player, observations: this.#report(), isDownloading: this.#isDownloading }),
      onShare: (share) => {
        this.#share = share;
        if (share < 1) this.#gate.compareAnew();
      },
      onFault: (message) => {
        this.#fault = `${url}: ${message}`;
      },
    });
  }

  get state(): ServiceForecasterState {
    const { clock, state, detail } = this.#connection;
    const newest = this.#newest;
    return {
      connection: state,
      verdict: this.#gate.verdict(this.#experienceSeconds),
      share: this.#share,
      ...(detail !== undefined && { detail }),
      ...(newest && { ageSeconds: (clock.utcMsAt(performance.now()) - newest.issuedAtMs) / 1000 }),
    };
  }

  start(context: SessionContext): void {
    this.#gate.start();
    this.#waiting.clear();
    this.#startMs = undefined;
    this.#sessionUtcMs = context.utcMsAtStart;
    this.#isClosed = needsTls(this.#url, globalThis.location?.href);
    if (this.#isClosed) {
      throw new Error(
        `${this.#url}: a page from https may not use http to another machine; expected https (leo-abr serve --tls-cert) or ` +
          'http://127.0.0.1',
      );
    }
    this.#use();
  }

  observe(observation: Observation): void {
    if (observation.kind === 'throughput') {
      this.#gate.observe(observation.startSeconds, observation.endSeconds, observation.bits);
    }
    this.#waiting.add(observation);
    // An idle time ends with a request.
    this.#setDownloading(true);
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#setDownloading(false), QUIET_MS);
  }

  tellTime(atSeconds: number, utcMs: number): void {
    if (Number.isFinite(atSeconds + utcMs)) this.#sessionUtcMs = utcMs - atSeconds * 1000;
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    this.#startMs = performance.now() - nowSeconds * 1000;
    this.#use();
    const fault = this.#fault;
    this.#fault = undefined;
    if (fault !== undefined) throw new Error(fault);
    const forecast = this.#ofLink();
    if (forecast === undefined || ageSecondsOf(forecast, nowSeconds) >= this.#staleSeconds) return undefined;
    return this.#gate.admits(forecast, nowSeconds, this.#experienceSeconds) ? forecast : undefined;
  }

  reconnect(): void {
    this.#connection.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection.close();
  }

  #setDownloading(isDownloading: boolean): void {
    if (this.#isDownloading !== isDownloading) this.#connection.hurry();
    this.#isDownloading = isDownloading;
  }

  /** Keeps the connection open, or opens it. */
  #use(): void {
    this.#usedMs = performance.now();
    if (!this.#isClosed) this.#connection.open();
  }

  #receive(reply: unknown): void {
    const { forecast, observedSeconds } = (reply ?? {}) as { forecast?: unknown; observedSeconds?: unknown };
    if (forecast === null || forecast === undefined) return;
    try {
      const valid = validForecast(forecast);
      check(valid.kind !== 'path', 'kind', 'quantiles', valid.kind);
      this.#newest = valid;
    } catch (error) {
      this.#fault = `${this.#url}: ${(error as InputError).message}`;
      return;
    }
    this.#experienceSeconds = typeof observedSeconds === 'number' ? observedSeconds : undefined;
    const converted = this.#ofLink();
    if (converted !== undefined) this.#gate.addForecast(converted);
  }

  #sessionSeconds(): number {
    return (performance.now() - (this.#startMs ?? Number.NaN)) / 1000;
  }

  /**
   * The newest forecast on the session's clock; undefined while others use the link, because this player's part of the
   * capacity is not forecast (docs/findings.md).
   */
  #ofLink(): QuantileForecast | undefined {
    if (this.#share < 1) return undefined;
    const of = this.#newest;
    const startMs = this.#startMs;
    const { clock } = this.#connection;
    if (of === undefined || startMs === undefined || !clock.isKnown) return undefined;
    const known = this.#converted;
    // Readings of the session's clock differ by a fraction of a ms.
    if (known?.of === of && Math.abs(known.startMs - startMs) < 1) return known.forecast;
    const issuedAtMs = clock.pageMsAt(of.issuedAtMs) - startMs;
    // In UTC of the session's own time source, as for other forecasters.
    const leadMs = (this.#sessionUtcMs ?? Number.NaN) - startMs;
    const handovers = of.handovers.map((handover) => ({ ...handover, atMs: leadMs + clock.pageMsAt(handover.atMs) }));
    const forecast = { ...of, issuedAtMs, handovers: Number.isNaN(leadMs) ? [] : handovers };
    this.#converted = { of, startMs, forecast };
    return forecast;
  }

  /** The observations to report, in UTC of the service. Closes an unused connection. */
  #report(): object[] {
    if (performance.now() - this.#usedMs > UNUSED_MS) {
      this.#connection.close();
      return [];
    }
    const { clock } = this.#connection;
    const startMs = this.#startMs;
    if (startMs === undefined || !clock.isKnown) return [];
    return this.#waiting.take(this.#sessionSeconds(), (seconds) => clock.utcMsAt(startMs + seconds * 1000));
  }
}

/** Its normalized text. */
function serviceUrl(url: unknown): string {
  try {
    const { href } = new URL(url as string);
    if (/^https?:[^?#]+$/.test(href)) return href;
  } catch {
    // Thrown below.
  }
  throw new InputError('url', 'the address of a prediction service like http://127.0.0.1:8790', url);
}
