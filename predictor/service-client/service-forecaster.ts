/**
 * A forecaster that asks the prediction service beside the dish (`leo-abr serve`): it reports what the session sees, and
 * brings the service's forecasts onto the session's clock. For browsers; no dependencies. It never waits: where the
 * service has nothing new, or is not to be believed, `latest` has nothing, and the next forecaster is asked.
 */

import { InputError, requirePositive } from '../../abr/errors.ts';
import type { Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { validateForecast } from '../../abr/validate-forecast.ts';
import { ForecastGate } from './forecast-gate.ts';
import { type After, type ConnectionState, type Fetch, ServiceConnection } from './service-connection.ts';

export interface ServiceForecasterOptions {
  /** Bearer token, where the service asks for one. Default: none. */
  token?: string;
  /** A forecast of this age is not used. Seconds. Default 3. */
  staleSeconds?: number;
  /** Told when the connection changes. Where it throws, a chain of forecasters reports that. Default: nobody. */
  onState?: (state: ServiceForecasterState) => void;
  /** Default: the global one. */
  fetch?: Fetch;
  /** A clock that runs evenly, in ms. Default: `performance.now`. */
  now?: () => number;
  /** Uniform in [0, 1). Default: `Math.random`. */
  random?: () => number;
  /** Default: `setTimeout`. */
  after?: After;
  /** Address of the page, for telling whether it may talk to the service at all. Default: `location.href`. */
  pageUrl?: string;
}

export interface ServiceForecasterState {
  connection: ConnectionState;
  /** Why it waits or was refused. */
  detail?: string;
  /** The service's forecasts were much worse than a plain guess, so that they are left out. */
  distrusted: boolean;
  /** Age in seconds of the newest forecast; undefined before there was one. */
  ageSeconds?: number;
  /** Part of the link's capacity that this player counts on. */
  share: number;
}

export interface ServiceForecaster extends Forecaster {
  readonly state: ServiceForecasterState;
  /** Ends the connection; `start` opens it again. */
  close(): void;
}

/** Forecasts come once a second and more often; one may be lost. */
const STALE_SECONDS = 3;
/** Nobody has asked for so long: the player is gone, and the connection with it until somebody asks again. */
const UNUSED_MS = 60_000;
/** Observations kept while the connection is away: 10 s, in tenths. */
const MOST_WAITING = 100;
const OLDEST_SECONDS = 8;

/**
 * `url`: of the service, like `http://127.0.0.1:8790`. Throws an `InputError` for one that is none, or wrong options.
 * A page that came over https may ask a service on its own machine over http, but one elsewhere only over https:
 * `start` then throws and says so, which a chain of forecasters reports once.
 */
export function createServiceForecaster(url: string, options: ServiceForecasterOptions = {}): ServiceForecaster {
  return new RemoteForecaster(serviceUrl(url), options);
}

class RemoteForecaster implements ServiceForecaster {
  readonly name = 'service';
  readonly #url: URL;
  readonly #options: ServiceForecasterOptions;
  readonly #now: () => number;
  readonly #connection: ServiceConnection;
  readonly #gate: ForecastGate;
  #waiting: Observation[] = [];
  /** Of the page's clock, at second 0 of the session; undefined before anybody asked. */
  #startMs: number | undefined;
  /** UTC of the session's time source at its second 0. */
  #sessionUtcMs: number | undefined;
  #share = 1;
  #askedMs = Number.NEGATIVE_INFINITY;
  /** As it came: UTC of the service. */
  #newest: QuantileForecast | undefined;
  /** Downloading that the service has seen; undefined where it does not say. */
  #experienceSeconds: number | undefined;
  /** On the session's clock; made once per forecast and clock. */
  #converted: { of: QuantileForecast; startMs: number; share: number; forecast: QuantileForecast } | undefined;
  #detail: string | undefined;
  /** Closed, or the browser would not let the page ask: until the next session. */
  #isClosed = false;
  #fault: string | undefined;

  constructor(url: URL, options: ServiceForecasterOptions) {
    const { staleSeconds = STALE_SECONDS, token } = options;
    this.#gate = new ForecastGate({ staleSeconds: requirePositive(staleSeconds, 'options.staleSeconds') });
    this.#url = url;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#connection = new ServiceConnection({
      url: url.href.replace(/\/$/, ''),
      token,
      fetch: options.fetch ?? ((address, init) => fetch(address, init)),
      now: this.#now,
      random: options.random ?? Math.random,
      after: options.after ?? afterTimeout,
      onForecast: (reply) => this.#hear(reply),
      report: () => this.#report(),
      onShare: (share) => {
        this.#share = share;
      },
      onState: (_, detail) => {
        this.#detail = detail;
        try {
          options.onState?.(this.state);
        } catch (error) {
          this.#fault ??= `onState: ${error instanceof Error ? error.message : error}`;
        }
      },
    });
  }

  get state(): ServiceForecasterState {
    const { state, clock } = this.#connection;
    const newest = this.#newest;
    const ageSeconds = newest && (clock.utcMsAt(this.#now()) - newest.issuedAtMs) / 1000;
    return {
      connection: state,
      distrusted: this.#gate.isDistrusted,
      share: this.#share,
      ...(this.#detail !== undefined && { detail: this.#detail }),
      ...(ageSeconds !== undefined && { ageSeconds }),
    };
  }

  start(context: SessionContext): void {
    this.#gate.start();
    this.#waiting = [];
    this.#startMs = undefined;
    this.#sessionUtcMs = context.utcMsAtStart;
    const page = this.#options.pageUrl ?? (globalThis as { location?: { href: string } }).location?.href;
    const { href, protocol, hostname } = this.#url;
    this.#isClosed = page?.startsWith('https:') === true && protocol === 'http:' && !isLoopback(hostname);
    if (this.#isClosed) {
      throw new Error(
        `${href}: a page that came over https may not ask for http in the network; expected https (leo-abr serve ` +
          '--tls-cert, --tls-key) or a service on the same machine (http://127.0.0.1)',
      );
    }
    this.#ask();
  }

  observe(observation: Observation): void {
    if (observation.kind === 'throughput') {
      this.#gate.observe(observation.startSeconds, observation.endSeconds, observation.bits);
    }
    this.#waiting.push(observation);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  tellTime(atSeconds: number, utcMs: number): void {
    if (Number.isFinite(atSeconds + utcMs)) this.#sessionUtcMs = utcMs - atSeconds * 1000;
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    this.#startMs = this.#now() - nowSeconds * 1000;
    this.#ask();
    if (this.#fault !== undefined) {
      const fault = this.#fault;
      this.#fault = undefined;
      throw new Error(fault);
    }
    const forecast = this.#onSessionClock();
    const isAdmitted = forecast !== undefined && this.#gate.admits(forecast, nowSeconds, this.#experienceSeconds);
    return isAdmitted ? forecast : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection.close();
  }

  /** Somebody wants forecasts: the connection stays for a while. */
  #ask(): void {
    this.#askedMs = this.#now();
    if (this.#connection.state === 'off' && !this.#isClosed) this.#connection.open();
  }

  #hear(reply: unknown): void {
    const { forecast, observedSeconds } = (reply ?? {}) as { forecast?: unknown; observedSeconds?: unknown };
    if (forecast === null || forecast === undefined) return;
    const wrong = validateForecast(forecast) ?? kindFault(forecast);
    if (wrong !== undefined) {
      this.#fault = `${this.#url.href}: ${wrong}`;
      return;
    }
    this.#newest = forecast as QuantileForecast;
    this.#experienceSeconds = typeof observedSeconds === 'number' ? observedSeconds : undefined;
    const converted = this.#onSessionClock();
    if (converted !== undefined) this.#gate.hear(converted, this.#sessionSeconds());
  }

  #sessionSeconds(): number {
    return (this.#now() - (this.#startMs ?? Number.NaN)) / 1000;
  }

  #onSessionClock(): QuantileForecast | undefined {
    const of = this.#newest;
    const startMs = this.#startMs;
    const { clock } = this.#connection;
    if (of === undefined || startMs === undefined || !clock.isKnown) return undefined;
    const share = this.#share;
    const known = this.#converted;
    // The session's clock is read to a fraction of a ms each time.
    if (known?.of === of && known.share === share && Math.abs(known.startMs - startMs) < 1) return known.forecast;
    const issuedAtMs = clock.pageMsAt(of.issuedAtMs) - startMs;
    const sessionUtcMs = this.#sessionUtcMs;
    const forecast: QuantileForecast = {
      ...of,
      issuedAtMs,
      quantilesBps: of.quantilesBps.map((row) => row.map((bps) => bps * share)),
      // In the time of the session's own source, as forecasts in a page are.
      handovers:
        sessionUtcMs === undefined
          ? []
          : of.handovers.map(({ atMs, confidence }) => ({
              atMs: sessionUtcMs + clock.pageMsAt(atMs) - startMs,
              confidence,
            })),
    };
    this.#converted = { of, startMs, share, forecast };
    return forecast;
  }

  /** What is to be told to the service, in its UTC; also ends a connection that nobody needs any more. */
  #report(): object[] {
    if (this.#now() - this.#askedMs > UNUSED_MS) {
      this.#connection.close();
      return [];
    }
    const startMs = this.#startMs;
    if (startMs === undefined) return [];
    const nowSeconds = this.#sessionSeconds();
    const utcMs = (seconds: number) => this.#connection.clock.utcMsAt(startMs + seconds * 1000);
    const reported = this.#waiting.flatMap((observation): object[] => {
      if (observation.kind === 'request-latency') {
        const { kind, atSeconds, latencySeconds } = observation;
        const isTold = nowSeconds - atSeconds < OLDEST_SECONDS && latencySeconds > 0;
        return isTold ? [{ kind, atMs: utcMs(atSeconds), latencyMs: latencySeconds * 1000 }] : [];
      }
      const { startSeconds, endSeconds, ...rest } = observation;
      const oldest = nowSeconds - OLDEST_SECONDS;
      // Of a long pause its end is what matters; of old bits nothing does.
      const start = rest.kind === 'idle' ? Math.max(startSeconds, oldest) : startSeconds;
      return start >= oldest && endSeconds > start
        ? [{ ...rest, startMs: utcMs(start), endMs: utcMs(endSeconds) }]
        : [];
    });
    this.#waiting = [];
    return reported;
  }
}

function serviceUrl(url: unknown): URL {
  try {
    const parsed = new URL(url as string);
    if (/^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === '') return parsed;
  } catch {
    // Said below.
  }
  throw new InputError('url', 'the address of a prediction service like http://127.0.0.1:8790', url);
}

function kindFault(forecast: unknown): string | undefined {
  return (forecast as { kind?: unknown }).kind === 'paths' ? 'kind: expected quantiles, got paths' : undefined;
}

/** Browsers take these for as safe as https. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}

const afterTimeout: After = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};
