/** The forecasts of an attachment: the chain of forecasters, their observations and their clock. */

import type { Forecaster, SessionContext, ValidForecast } from '../../abr/forecast.ts';
import { ForecastChain } from '../../predictor/forecast/chain.ts';
import { ObservationMeter } from '../../predictor/link/observation-meter.ts';
import type { SessionClock } from '../clock.ts';
import type { Events } from '../page/events.ts';
import { attempt } from '../page/events.ts';
import type { Session } from '../session.ts';
import type { Clocks } from '../state.ts';

export interface ForecastingOptions {
  events: Events;
  /** In the order in which they are asked. */
  forecasters: readonly Forecaster[];
  /** Whether the page gave some of them. */
  hasPageForecasters: boolean;
  /** Seed of the forecasters' random numbers. */
  seed: number;
  /** Asked at the start of each session. Default: nothing is known. */
  pageLoad?: (() => SessionContext['pageLoad']) | undefined;
  /** Called when the plugin is detached. */
  onStop?: (() => void) | undefined;
}

/** A change of UTC against the session's clock up to this much is not reported to the forecasters. */
const LEAP_SECONDS = 0.1;

export class Forecasting {
  private readonly _chain: ForecastChain;
  /** The session's meter: it passes its observations to the forecasters. */
  meter = this._newMeter();
  /** The page has forecasters of its own, which may work between two forecasts. */
  readonly hasPageForecasters: boolean;
  private _isStarted = false;
  /** The link that the forecasters have observed last. */
  private _link: object | undefined;
  /** UTC at second 0 of the session, as it was reported to the forecasters. */
  private _utc: { utcMsAtStart: number; utcUncertaintySeconds: number } | undefined;

  constructor(private readonly _options: ForecastingOptions) {
    this.hasPageForecasters = _options.hasPageForecasters;
    this._chain = new ForecastChain(_options.forecasters, (forecaster, cause) => {
      const name = attempt(() => String(forecaster.name));
      _options.events.fault('forecaster-failed', `the forecaster ${name} failed`, cause);
    });
  }

  /** Begins a session, at its first media request or the decision on it. Later calls do nothing. */
  start(clock: Pick<SessionClock, 'read'>): void {
    if (this._isStarted) return;
    this._isStarted = true;
    this.meter = this._newMeter();
    this._link = undefined;
    this._utc = utcAtStart(clock.read());
    this._startChain(this._options.pageLoad?.());
  }

  private _startChain(pageLoad: SessionContext['pageLoad']): void {
    this._chain.start({ seed: this._options.seed, pageLoad, ...this._utc });
  }

  /** The session is over. */
  sourceEnded(): void {
    this._isStarted = false;
  }

  /** The plugin is detached. */
  stop(): void {
    if (this._options.onStop) this._options.onStop();
  }

  /** Passes all that was measured until now to the forecasters, or a change of link; returns the newest forecast, if any. */
  flushAndForecast(clocks: Clocks, session?: Session): ValidForecast | undefined {
    const { nowSeconds, utcMs } = clocks;
    this.meter.advance(nowSeconds);
    const link = session?.origin.link;
    if (this._link && link !== this._link) this._startChain({ bits: session!.knownBps(), seconds: 1 });
    this._link = link;
    const utc = utcAtStart(clocks);
    // The session's clock stands until its first request.
    if (utc && nowSeconds > 0 && !this._isKnown(utc)) {
      this._utc = utc;
      this._chain.tellTime(nowSeconds, utcMs!, utc.utcUncertaintySeconds);
    }
    return this._chain.latest(nowSeconds);
  }

  /** Neither a leap nor a better source has changed UTC. */
  private _isKnown({ utcMsAtStart, utcUncertaintySeconds }: NonNullable<ReturnType<typeof utcAtStart>>): boolean {
    const known = this._utc;
    return (
      known !== undefined &&
      Math.abs(utcMsAtStart - known.utcMsAtStart) < LEAP_SECONDS * 1000 &&
      utcUncertaintySeconds > known.utcUncertaintySeconds / 2
    );
  }

  private _newMeter(): ObservationMeter {
    return new ObservationMeter((observation) => this._chain.observe(observation));
  }
}

function utcAtStart({ nowSeconds, utcMs, utcUncertaintySeconds = Number.POSITIVE_INFINITY }: Clocks) {
  return utcMs === undefined ? undefined : { utcMsAtStart: utcMs - nowSeconds * 1000, utcUncertaintySeconds };
}
