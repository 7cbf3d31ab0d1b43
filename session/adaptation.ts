/** The core of one attachment: an adapter reports its player's events to it and asks it for decisions. */

import type { ResolvedOptions } from './assemble.ts';
import { Abandonment } from './decisions/abandonment.ts';
import { Decisions } from './decisions/decisions.ts';
import { Planner } from './decisions/planner.ts';
import { Ticker } from './decisions/ticker.ts';
import { withCmcd } from './forecasting/cmcd.ts';
import type { Forecasting } from './forecasting/forecasting.ts';
import { Pacing } from './live/pacing.ts';
import type { Events, Guard } from './page/events.ts';
import type { PlayerPort } from './player-port.ts';
import { Downloads, type RequestsInFlight } from './requests/downloads.ts';
import { loadLists } from './requests/segment-lists.ts';
import { SegmentQualities } from './requests/segment-qualities.ts';
import { SegmentSizes, SIZE_LISTS } from './requests/segment-sizes.ts';
import { Session } from './requests/session.ts';
import { SessionClock } from './requests/session-clock.ts';

export class Adaptation {
  readonly session: Session;
  readonly sizes = new SegmentSizes();
  readonly clock: SessionClock;
  readonly forecasting: Forecasting | undefined;
  readonly planner: Planner;
  readonly decisions: Decisions;
  readonly pacing: Pacing | undefined;
  readonly ticker: Ticker;
  readonly downloads: Downloads;
  private _isStopped = false;

  constructor(
    readonly port: PlayerPort,
    readonly options: ResolvedOptions,
    readonly events: Events,
  ) {
    const { host } = options;
    const { guard, sizes } = this;
    const inFlight: RequestsInFlight = new Map();
    const session = new Session(options.downloadsKept);
    const clock = new SessionClock(host, { timeSource: options.timeSource, events, inFlight });
    const { newForecasting } = options;
    const forecasting = newForecasting && newForecasting({ events, port, session });
    const qualities = new SegmentQualities(options.quality, host, (cause) =>
      events.fault('quality-unusable', 'segment qualities are modelled', cause),
    );
    const planner = new Planner({ port, session, clock, sizes, qualities, forecasting, options });
    const readArrived = () => this.downloads.readArrived();
    const decisions = new Decisions({ port, session, clock, forecasting, planner, events, readArrived });
    const abandonment = new Abandonment({ port, session, forecasting, decisions, readArrived });
    const pacing = port.rate && new Pacing({ rate: port.rate, session, planner, guard, events, host });
    const ticker = new Ticker(host, { clock, guard, parts: [abandonment, ...(pacing ? [pacing] : [])] });
    this.downloads = new Downloads(inFlight, { port, host, guard, session, clock, sizes, forecasting, ticker });
    this.session = session;
    this.clock = clock;
    this.forecasting = forecasting;
    this.planner = planner;
    this.decisions = decisions;
    this.pacing = pacing;
    this.ticker = ticker;
    const { sizes: given } = options;
    if (given === undefined) return;
    sizes.onFault = (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error);
    sizes.reload = () => void loadLists(given, host, SIZE_LISTS).then((file) => sizes.useFile(file), sizes.onFault);
    sizes.reload();
  }

  /** An adapter runs all its handlers in this: no error reaches the player, and nothing runs after `stop`. */
  readonly guard: Guard = <T, A>(action: (argument: A) => T, argument?: A) => {
    if (this._isStopped) return undefined;
    // Without `attempt`: this runs for each event of the player.
    try {
      return action(argument as A);
    } catch (error) {
      this.events.fault('player-failed', `${this.port.name} is not as expected`, error);
      return undefined;
    }
  };

  /** If the option `cmcd` is on, adds the plugin's keys to the player's CMCD in `headers` and in the URL, which it returns. */
  withCmcd(url: string, headers?: Record<string, string> | null): string {
    const { forecast } = this.session.record;
    if (!this.options.cmcd || !forecast) return url;
    return this.guard(() => withCmcd(forecast, this.clock.read().utcMs, url, headers)) || url;
  }

  /** The player has lost its source. */
  sourceEnded(): void {
    this.downloads.forget();
    this.ticker.stop();
    if (this.pacing) this.pacing.release();
    this.sizes.forget();
    this.session.next();
    this.clock.reset();
    if (this.forecasting) this.forecasting.sourceEnded();
    this.planner.renew();
  }

  /** The plugin is detached. */
  stop(): void {
    this.ticker.stop();
    this._isStopped = true;
    this.downloads.stop();
    if (this.forecasting) this.forecasting.stop();
    if (this.pacing) this.pacing.release();
  }
}
