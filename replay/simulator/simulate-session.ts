/** One session on one trace, with the browser's controller code; README.md describes the model. */

import type { SessionResult } from '../results.ts';
import { CUTOFF_SECONDS } from '../scenarios.ts';
import { Flight, ProgressFeed } from './flight.ts';
import { LiveSession } from './live-session.ts';
import { Playback } from './playback.ts';
import { type Process, playAlone, Session } from './session.ts';
import type { SimulationOptions } from './simulation-options.ts';

export type { DecisionRecord, SimulationOptions } from './simulation-options.ts';

/** Period of the forecaster's progress events; those of an XHR are 50 to 100 ms apart. */
const PROGRESS_BIN_SECONDS = 0.1;

/** A controller that throws or decides invalidly ends it with `endedBy: fault`. @throws {RangeError} */
export function simulateSession(options: SimulationOptions): SessionResult {
  return playAlone(playSession(options));
}

export function* playSession(options: SimulationOptions): Process<SessionResult> {
  const { live } = options.scenario;
  if (live !== undefined) return yield* new LiveSession(options, live).play();
  return yield* new OnDemandSession(options).play();
}

class OnDemandSession extends Session<Flight> {
  protected readonly playback: Playback;
  protected readonly isInitialised = true;
  private readonly feed: ProgressFeed | undefined;
  private readonly cutoffSeconds: number;

  constructor(options: SimulationOptions) {
    super(options);
    const { scenario, forecaster, cutoffSeconds } = options;
    const { stallLevelSeconds } = scenario.browser;
    this.feed = forecaster && new ProgressFeed(forecaster, PROGRESS_BIN_SECONDS);
    this.cutoffSeconds = cutoffSeconds ?? CUTOFF_SECONDS;
    this.playback = new Playback(stallLevelSeconds, scenario.playbackRate);
  }

  *play(): Process<SessionResult> {
    const end = yield* this.run(this.playSegments());
    return this.result(end, { segmentCount: this.segmentCount, hasUnfinished: end.endedBy !== 'end' });
  }

  private *playSegments(): Process<SessionResult['endedBy']> {
    for (let index = 0; index < this.segmentCount; index++) {
      if (!(yield* this.playSegment(index))) return 'cutoff';
    }
    return 'end';
  }

  protected get goesOnUntilSeconds(): number {
    return this.playback.waitedAtSeconds(this.cutoffSeconds);
  }

  /** Advances playback, at most to the cutoff; false if the session is cut off before `seconds`. */
  protected waitUntil(seconds: number): boolean {
    const cutoffAt = this.goesOnUntilSeconds;
    this.playback.advanceTo(Math.min(seconds, cutoffAt));
    return seconds < cutoffAt;
  }

  /** dash.js requests when buffer + segment < cap, plus the delay of polling and the gap after appends. */
  protected waitForRoom(index: number): boolean {
    if (index === 0) return true;
    const { scenario, playback } = this;
    const { requestGapSeconds, requestLatenessSeconds } = scenario.browser;
    const excessSeconds = playback.bufferLevelSeconds + scenario.segmentSeconds - scenario.bufferCapSeconds;
    const seconds = Math.max(requestGapSeconds, excessSeconds / playback.playbackRate + requestLatenessSeconds);
    return this.waitUntil(playback.nowSeconds + seconds);
  }

  protected request(_index: number, sizeBits: number): Flight {
    const { nowSeconds } = this.playback;
    const flight = new Flight(this.linkNow(this.link), nowSeconds, sizeBits, this.scenario.rttSeconds);
    this.feed?.begin(flight);
    return flight;
  }

  protected report(hasEnded: boolean): void {
    this.feed?.report(this.playback.nowSeconds, hasEnded);
  }

  protected append(): boolean {
    const { playback, scenario } = this;
    if (!this.waitUntil(playback.nowSeconds + scenario.browser.appendSeconds)) return false;
    playback.append(scenario.segmentSeconds);
    return true;
  }
}
