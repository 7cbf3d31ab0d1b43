/** The core of one attachment: an adapter reports its player's events to it and asks it for decisions. */

import { Abandonment } from './abandonment.ts';
import { withCmcd } from './cmcd.ts';
import { Decisions } from './decisions.ts';
import { Downloads } from './downloads.ts';
import type { Events } from './events.ts';
import type { Forecasting } from './forecasting.ts';
import { Guard } from './guard.ts';
import type { Pacing } from './pacing.ts';
import { Planner } from './planner.ts';
import type { PlayerPort } from './player-port.ts';
import type { ResolvedOptions } from './resolved-options.ts';
import { loadSizes, SegmentSizes } from './segment-sizes.ts';
import { Session } from './session.ts';
import { SessionClock } from './session-clock.ts';
import { Ticker } from './ticker.ts';

export class Adaptation {
  readonly options: ResolvedOptions;
  /** An adapter runs all its handlers in this. */
  readonly guard: Guard;
  readonly session = new Session();
  readonly clock: SessionClock;
  readonly planner: Planner;
  readonly decisions: Decisions;
  readonly downloads: Downloads;
  readonly pacing: Pacing | undefined;
  readonly #sizes = new SegmentSizes();
  readonly forecasting: Forecasting | undefined;
  readonly #ticker: Ticker;

  constructor(port: PlayerPort, options: ResolvedOptions, events: Events) {
    const { session } = this;
    const sizes = this.#sizes;
    const guard = new Guard(port.name, events);
    const clock = new SessionClock(options.timeSource, events);
    const forecasting = options.newForecasting?.({ events, origin: () => port.origin() });
    const planner = new Planner({ session, clock, sizes, forecasting, options });
    const decisions = new Decisions({ port, session, clock, planner, events });
    const abandonment = new Abandonment({ port, session, clock, forecasting, decisions });
    const { rate } = port;
    const pacing = rate && options.newPacing?.({ rate, port, session, clock, planner, guard, events });
    const ticker = new Ticker(guard, pacing ? [abandonment, pacing] : [abandonment]);
    this.options = options;
    this.guard = guard;
    this.clock = clock;
    this.planner = planner;
    this.decisions = decisions;
    this.downloads = new Downloads({ session, clock, sizes, forecasting, planner, ticker });
    this.pacing = pacing;
    this.forecasting = forecasting;
    this.#ticker = ticker;
    if (options.sizes === undefined) return;
    loadSizes(options.sizes).then(
      (file) => sizes.useFile(file),
      (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error),
    );
  }

  /** Adds the plugin's keys to the player's CMCD, with the option `cmcd`: to `headers`, and to the URL, which it returns. */
  withCmcd(url: string, headers?: Record<string, string> | null): string {
    return (this.options.cmcd && this.guard.run(() => withCmcd(this, url, headers))) || url;
  }

  /** The player has lost its source. */
  sourceEnded(): void {
    this.#ticker.stop();
    this.pacing?.release();
    this.downloads.forget();
    this.#sizes.forget();
    this.session.next();
    this.clock.reset();
    this.forecasting?.sourceEnded();
    this.planner.renew();
  }

  /** The plugin is detached. */
  stop(): void {
    this.#ticker.stop();
    this.guard.stop();
    this.forecasting?.stop();
    this.pacing?.release();
  }
}
