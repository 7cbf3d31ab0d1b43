/** The core of one attachment: an adapter reports its player's events to it and asks it for decisions. */

import { Abandonment } from './decisions/abandonment.ts';
import { Decisions } from './decisions/decisions.ts';
import { Planner } from './decisions/planner.ts';
import { Ticker } from './decisions/ticker.ts';
import type { Forecasting } from './forecasting/forecasting.ts';
import type { Pacing } from './live/pacing.ts';
import type { Events, Guard } from './page/events.ts';
import type { ResolvedOptions } from './page/resolved-options.ts';
import type { PlayerPort } from './player-port.ts';
import { Downloads } from './requests/downloads.ts';
import { loadSizes, SegmentSizes } from './requests/segment-sizes.ts';
import { Session } from './requests/session.ts';
import { SessionClock } from './requests/session-clock.ts';

/** The type of each part's argument names the other parts that it uses. */
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
  #isStopped = false;

  constructor(
    readonly port: PlayerPort,
    readonly options: ResolvedOptions,
    readonly events: Events,
  ) {
    this.session = new Session(options.newLiveStream);
    this.clock = new SessionClock(options.timeSource, events);
    this.forecasting = options.newForecasting?.(this);
    this.planner = new Planner(this);
    this.decisions = new Decisions(this);
    this.pacing = port.rate && options.newPacing?.(this);
    this.ticker = new Ticker(this.clock, this.guard, [new Abandonment(this), ...(this.pacing ? [this.pacing] : [])]);
    this.downloads = new Downloads(this);
    if (options.sizes === undefined) return;
    loadSizes(options.sizes).then(
      (file) => this.sizes.useFile(file),
      (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error),
    );
  }

  /** An adapter runs all its handlers in this: no error reaches the player, and nothing runs after `stop`. */
  readonly guard: Guard = (action, argument) =>
    this.#isStopped
      ? undefined
      : this.events.attempt('player-failed', `${this.port.name} is not as expected`, action, argument);

  /** Adds the plugin's keys to the player's CMCD, with the option `cmcd`: to `headers`, and to the URL, which it returns. */
  withCmcd(url: string, headers?: Record<string, string> | null): string {
    return this.guard(() => this.forecasting?.withCmcd(this, url, headers)) ?? url;
  }

  /** The player has lost its source. */
  sourceEnded(): void {
    this.ticker.stop();
    this.pacing?.release();
    this.downloads.forget();
    this.sizes.forget();
    this.session.next();
    this.clock.reset();
    this.forecasting?.sourceEnded();
    this.planner.renew();
  }

  /** The plugin is detached. */
  stop(): void {
    this.ticker.stop();
    this.#isStopped = true;
    this.forecasting?.stop();
    this.pacing?.release();
  }
}
