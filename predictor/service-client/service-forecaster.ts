/**
 * A forecaster that uses the prediction service beside the dish (`leo-abr serve`): it reports the session's
 * observations and converts the service's forecasts to the session's clock. Without a recent and trusted forecast,
 * `latest` gives undefined, and the chain uses the next forecaster.
 */

import { check, InputError, isFrom, isPositive, requireObject } from '../../abr/errors.ts';
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
import { type ConnectionState, type ForecastReply, ServiceConnection } from './service-connection.ts';
import { WaitingObservations } from './waiting-observations.ts';

export interface ServiceForecasterOptions {
  /** Bearer token, if the service requires one. */
  token?: string;
  /** Age in seconds from which a forecast is not used. Default 3. */
  staleSeconds?: number;
}

export interface ServiceForecasterState {
  connection: ConnectionState;
  /** The reason for `waiting` or `refused`. */
  detail?: string;
  verdict: Verdict;
  /** Age of the newest forecast; absent before the first. */
  ageSeconds?: number;
  /** This player's share of the link's traffic. Below 1, others use the link, and forecasts are not used. */
  share: number;
}

export interface ServiceForecaster extends Forecaster {
  readonly state: ServiceForecasterState;
  /** Connects at the next call of `latest`, without the pause that follows failures. */
  reconnect(): void;
  /** Ends the connection; `start` opens it again. */
  close(): void;
}

/** Forecasts arrive at least once a second. One of them may be lost. */
const STALE_SECONDS = 3;
/** Without calls of `latest` for this long, the connection is closed until the next call. */
const UNUSED_MS = 60_000;
/** Without observations, which come in steps of 0.1 s, for this long, the player does not download. */
const QUIET_MS = 300;

/**
 * `url`: address of the service, like `http://127.0.0.1:8790`. For a page from https, a service on another machine must
 * also use https; otherwise `start` throws, which is one fault of the plugin.
 * @throws {InputError} for an invalid URL or option.
 */
export function createServiceForecaster(url: string, options: ServiceForecasterOptions = {}): ServiceForecaster {
  return new RemoteForecaster(serviceUrl(url), options);
}

class RemoteForecaster implements ServiceForecaster {
  readonly name = 'service';
  readonly isChecked = true;
  private readonly _connection: ServiceConnection;
  private readonly _gate = new ForecastGate();
  private readonly _staleSeconds: number;
  private readonly _waiting = new WaitingObservations();
  private _isDownloading = false;
  private _quietTimer: ReturnType<typeof setTimeout> | undefined;
  /** The page's clock at second 0 of the session; undefined before the first call of `latest`. */
  private _startMs: number | undefined;
  /** UTC of the session's time source at its second 0. */
  private _sessionUtcMs: number | undefined;
  private _share = 1;
  private _usedMs = Number.NEGATIVE_INFINITY;
  /** In UTC of the service. */
  private _newest: QuantileForecast | undefined;
  /** Downloading that the service has observed; undefined if it is not in the reply. */
  private _experienceSeconds: number | undefined;
  /** `_newest` on the session's clock. */
  private _converted: { of: QuantileForecast; startMs: number; forecast: QuantileForecast } | undefined;
  /** Closed, or forbidden by the browser, until the next session. */
  private _isClosed = false;
  private _fault: string | undefined;

  constructor(
    private readonly _url: string,
    options: unknown,
  ) {
    const { staleSeconds = STALE_SECONDS, token = '', ...others } = requireObject(options, 'options');
    for (const name of Object.keys(others)) check(false, `options.${name}`, 'token or staleSeconds', others[name]);
    check(typeof token === 'string', 'options.token', 'a string', token);
    check(isPositive(staleSeconds), 'options.staleSeconds', 'a finite number > 0', staleSeconds);
    this._staleSeconds = staleSeconds;
    const player = `page-${Math.random().toString(36).slice(2)}`;
    this._connection = new ServiceConnection({
      ...{ url: _url.replace(/\/$/, ''), token },
      onForecast: (reply) => this._receive(reply),
      report: () => ({ player, observations: this._report(), isDownloading: this._isDownloading }),
      onShare: (share) => {
        this._share = share;
        if (share < 1) this._gate.compareAnew();
      },
      onFault: (message) => {
        this._fault = `${_url}: ${message}`;
      },
    });
  }

  get state(): ServiceForecasterState {
    const { clock, state, detail } = this._connection;
    const newest = this._newest;
    return {
      connection: state,
      verdict: this._gate.verdict(this._experienceSeconds),
      share: this._share,
      ...(detail !== undefined && { detail }),
      ...(newest && { ageSeconds: (clock.utcMsAt(performance.now()) - newest.issuedAtMs) / 1000 }),
    };
  }

  start(context: SessionContext): void {
    this._gate.start();
    this._waiting.clear();
    this._startMs = undefined;
    this._sessionUtcMs = context.utcMsAtStart;
    this._isClosed = needsTls(this._url, typeof location === 'object' ? location.href : undefined);
    if (this._isClosed) {
      throw new Error(
        `${this._url}: a page from https may not use http to another machine; expected https (leo-abr serve --tls-cert) or ` +
          'http://127.0.0.1',
      );
    }
    this._use();
  }

  observe(observation: Observation): void {
    if (observation.kind === 'throughput') {
      this._gate.observe(observation.startSeconds, observation.endSeconds, observation.bits);
    }
    this._waiting.add(observation);
    // Every observation, even idle time, ends while a request runs.
    this._setDownloading(true);
    clearTimeout(this._quietTimer);
    this._quietTimer = setTimeout(() => this._setDownloading(false), QUIET_MS);
  }

  tellTime(atSeconds: number, utcMs: number): void {
    if (Number.isFinite(atSeconds + utcMs)) this._sessionUtcMs = utcMs - atSeconds * 1000;
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    this._startMs = performance.now() - nowSeconds * 1000;
    this._use();
    const fault = this._fault;
    this._fault = undefined;
    if (fault !== undefined) throw new Error(fault);
    const forecast = this._ofLink();
    if (forecast === undefined || ageSecondsOf(forecast, nowSeconds) >= this._staleSeconds) return undefined;
    return this._gate.admits(forecast, nowSeconds, this._experienceSeconds) ? forecast : undefined;
  }

  reconnect(): void {
    this._connection.close();
  }

  close(): void {
    this._isClosed = true;
    this._connection.close();
  }

  private _setDownloading(isDownloading: boolean): void {
    if (this._isDownloading !== isDownloading) this._connection.hurry();
    this._isDownloading = isDownloading;
  }

  private _use(): void {
    this._usedMs = performance.now();
    if (!this._isClosed) this._connection.open();
  }

  private _receive({ forecast, observedSeconds, serverUtcMs }: ForecastReply): void {
    if (forecast === null || forecast === undefined) return;
    try {
      const valid = validForecast(forecast);
      check(valid.kind !== 'path', 'kind', 'quantiles', valid.kind);
      // The clocks of page and service may differ, two times of a reply may not.
      const most = Math.max(STALE_SECONDS, this._staleSeconds);
      const isTimely = isFrom(ageSecondsOf(valid, serverUtcMs / 1000), -most, most);
      check(isTimely, 'issuedAtMs', `UTC within ${most} s of serverUtcMs (${serverUtcMs})`, valid.issuedAtMs);
      this._newest = valid;
    } catch (error) {
      this._fault = `${this._url}: ${(error as InputError).message}`;
      return;
    }
    this._experienceSeconds = typeof observedSeconds === 'number' ? observedSeconds : undefined;
    const converted = this._ofLink();
    if (converted !== undefined) this._gate.addForecast(converted);
  }

  private _sessionSeconds(): number {
    return (performance.now() - (this._startMs ?? Number.NaN)) / 1000;
  }

  /** The newest forecast on the session's clock; undefined while others use the link, whose part of the capacity is unknown. */
  private _ofLink(): QuantileForecast | undefined {
    if (this._share < 1) return undefined;
    const of = this._newest;
    const startMs = this._startMs;
    const { clock } = this._connection;
    if (of === undefined || startMs === undefined || !clock.isKnown) return undefined;
    const known = this._converted;
    // Readings of the session's clock differ by a fraction of a ms.
    if (known?.of === of && Math.abs(known.startMs - startMs) < 1) return known.forecast;
    const issuedAtMs = clock.pageMsAt(of.issuedAtMs) - startMs;
    // Handovers are in UTC of the session's own time source, as in other forecasts.
    const leadMs = (this._sessionUtcMs ?? Number.NaN) - startMs;
    const handovers = of.handovers.map((handover) => ({ ...handover, atMs: leadMs + clock.pageMsAt(handover.atMs) }));
    const forecast = { ...of, issuedAtMs, handovers: Number.isNaN(leadMs) ? [] : handovers };
    this._converted = { of, startMs, forecast };
    return forecast;
  }

  /** The observations to report, in UTC of the service. Closes an unused connection. */
  private _report(): object[] {
    if (performance.now() - this._usedMs > UNUSED_MS) {
      this._connection.close();
      return [];
    }
    const { clock } = this._connection;
    const startMs = this._startMs;
    if (startMs === undefined || !clock.isKnown) return [];
    return this._waiting.take(this._sessionSeconds(), (seconds) => clock.utcMsAt(startMs + seconds * 1000));
  }
}

function serviceUrl(url: unknown): string {
  try {
    const { href } = new URL(url as string);
    if (/^https?:[^?#]+$/.test(href)) return href;
  } catch {
    // Thrown below.
  }
  throw new InputError('url', 'the address of a prediction service like http://127.0.0.1:8790', url);
}
