/**
 * The discrete-event simulator: one session of one controller on one trace, with the browser's controller code.
 * README.md describes the model and its parameters.
 */

import type { Download, InFlight, PiecewisePath, PlayerState } from '../../abr/index.ts';
import type { ResolvedScenario, SessionResult } from '../results.ts';
import { CUTOFF_SECONDS, type Scenario } from '../scenarios.ts';
import { Flight, ProgressFeed } from './flight.ts';
import { playLiveSession } from './live-session.ts';
import { Playback } from './playback.ts';
import { expect, type Process, playAlone, Session, type Stage } from './session.ts';
import { pageLinkOf } from './session-setup.ts';
import type { SimulationOptions } from './simulation-options.ts';

export type { DecisionRecord, SimulationOptions } from './simulation-options.ts';

/** Period of the forecaster's progress events; those of an XHR are 50 to 100 ms apart. */
const PROGRESS_BIN_SECONDS = 0.1;

/**
 * Plays one session. A controller that throws or gives an invalid decision ends it with `endedBy: fault` and the
 * message in `fault`.
 * @throws {RangeError} for impossible options.
 */
export function simulateSession(options: SimulationOptions): SessionResult {
  return playAlone(playSession(options));
}

/** `simulateSession` as a process. */
export function* playSession(options: SimulationOptions): Process<SessionResult> {
  const { live } = options.scenario;
  if (live !== undefined) return yield* playLiveSession(options, live);
  const session = new Session<Flight>(options, (own) => new OnDemandStage(options, own));
  const { segmentCount } = session;
  const end = yield* session.run(playSegments(session));
  return session.result(end, { segmentCount, hasUnfinished: end.endedBy !== 'end' });
}

function* playSegments(session: Session<Flight>): Process<SessionResult['endedBy']> {
  for (let index = 0; index < session.segmentCount; index++) {
    if (!(yield* session.playSegment(index))) return 'cutoff';
  }
  return 'end';
}

class OnDemandStage implements Stage<Flight> {
  readonly playback: Playback;
  readonly isInitialised = true;
  readonly isOver = false;
  private readonly scenario: Scenario | ResolvedScenario;
  private readonly feed: ProgressFeed | undefined;
  private readonly link: PiecewisePath;
  private readonly cutoffSeconds: number;

  constructor(
    { trace, scenario, forecaster, cutoffSeconds }: SimulationOptions,
    private readonly session: Session<Flight>,
  ) {
    const { stallLevelSeconds } = scenario.browser;
    this.scenario = scenario;
    this.feed = forecaster && new ProgressFeed(forecaster, PROGRESS_BIN_SECONDS);
    this.cutoffSeconds = cutoffSeconds ?? CUTOFF_SECONDS;
    expect(
      scenario.bufferCapSeconds > scenario.segmentSeconds + stallLevelSeconds,
      'scenario.bufferCapSeconds',
      `more than a segment and the stall level (${scenario.segmentSeconds + stallLevelSeconds} s)`,
      scenario.bufferCapSeconds,
    );
    this.link = pageLinkOf(trace, scenario).from(session.startSeconds);
    const playbackRate = scenario.playbackRate ?? 1;
    expect(playbackRate > 0, 'scenario.playbackRate', 'a number > 0', playbackRate);
    this.playback = new Playback(stallLevelSeconds, playbackRate);
  }

  get goesOnUntilSeconds(): number {
    return this.playback.waitedAtSeconds(this.cutoffSeconds);
  }

  /** Advances playback, at most to the cutoff; false if the session is cut off before `seconds`. */
  waitUntil(seconds: number): boolean {
    const cutoffAt = this.goesOnUntilSeconds;
    this.playback.advanceTo(Math.min(seconds, cutoffAt));
    return seconds < cutoffAt;
  }

  /**
   * dash.js's rule: a request leaves when buffer level + segment duration < cap, plus the delay of polling, but not
   * before the gap after the append. A later append never causes an earlier request.
   */
  waitForRoom(index: number): boolean {
    if (index === 0) return true;
    const { scenario, playback } = this;
    const { requestGapSeconds, requestLatenessSeconds } = scenario.browser;
    const excessSeconds = playback.bufferLevelSeconds + scenario.segmentSeconds - scenario.bufferCapSeconds;
    const seconds = Math.max(requestGapSeconds, excessSeconds / playback.playbackRate + requestLatenessSeconds);
    return this.waitUntil(playback.nowSeconds + seconds);
  }

  waitForMedia(): boolean {
    return true;
  }

  request(_index: number, sizeBits: number): Flight {
    const { nowSeconds } = this.playback;
    const flight = new Flight(this.session.linkNow(this.link), nowSeconds, sizeBits, this.scenario.rttSeconds);
    this.feed?.begin(flight);
    return flight;
  }

  report(hasEnded: boolean): void {
    this.feed?.report(this.playback.nowSeconds, hasEnded);
  }

  measured(download: Download): Download {
    return download;
  }

  append(): boolean {
    const { playback, scenario } = this;
    if (!this.waitUntil(playback.nowSeconds + scenario.browser.appendSeconds)) return false;
    playback.append(scenario.segmentSeconds);
    return true;
  }

  isWaiting(): boolean {
    return false;
  }

  inFlight(inFlight: InFlight): InFlight {
    return inFlight;
  }

  state(state: PlayerState): PlayerState {
    return state;
  }
}
