/**
 * The discrete-event simulator: one session of one controller on one trace, with the browser's controller code.
 * README.md describes the model and its parameters.
 */

import {
  type Controller,
  type Decision,
  type Download,
  type Forecast,
  type Forecaster,
  type InFlight,
  type PiecewisePath,
  type PlayerState,
  type QoeWeights,
  qoeWeights,
} from '../../abr/index.ts';
import { decisionMicros } from '../evaluation/quantiles.ts';
import type { ResolvedScenario, SegmentRow, SessionResult } from '../results.ts';
import type { Scenario } from '../scenarios.ts';
import { type Trace, traceStartUtcMs } from '../trace.ts';
import { Flight, ProgressFeed } from './flight.ts';
import { Playback } from './playback.ts';
import { sessionTotals } from './session-result.ts';
import { pageLinkOf, upcomingSizesOf } from './session-setup.ts';

/** Period of `reconsider`, as of the plugin's timer in a page. */
const TICK_SECONDS = 0.1;

/** A session ends after this much waiting (startup and stalls). */
export const CUTOFF_SECONDS = 600;

/** Period of the forecaster's progress events; those of an XHR are 50 to 100 ms apart. */
const PROGRESS_BIN_SECONDS = 0.1;

/** Default uncertainty of the player's UTC: that of a device's clock. */
const UTC_UNCERTAINTY_SECONDS = 2;

export interface SimulationOptions {
  trace: Trace;
  /** Plays its `segmentSizesBits` if it has any, else seeded sizes. */
  scenario: Scenario | ResolvedScenario;
  /** New for this session. */
  controller: Controller;
  /** Second of the trace at the first media request. Default 0. */
  startSeconds?: number;
  /** At most the scenario's. Default: the scenario's. */
  segmentCount?: number;
  /** For the forecaster and the result; the simulator uses no random numbers. Default 0. */
  seed?: number;
  /** Name in the result. Default: the controller's. */
  algorithm?: string;
  forecaster?: Forecaster;
  /** Period of `reconsider`. Default `TICK_SECONDS`. */
  tickSeconds?: number;
  /** The session ends with `endedBy: cutoff` after this much waiting. Default `CUTOFF_SECONDS`. */
  cutoffSeconds?: number;
  /** The player's UTC minus the trace's. Default 0. */
  utcErrorSeconds?: number;
  /** The uncertainty of UTC in the player's state. Default 2. */
  utcUncertaintySeconds?: number;
  /** Measure the durations of `decide` (`decisionMicros`), which differ from run to run. */
  timings?: boolean;
  /** Receives a snapshot of every call of the controller. */
  onDecision?(record: DecisionRecord): void;
}

/** A call of the controller, and its result. */
export interface DecisionRecord {
  asked: 'decide' | 'reconsider';
  state: PlayerState;
  inFlight?: InFlight;
  forecast?: Forecast;
  answer: Decision | 'keep';
}

/**
 * Plays one session. A controller that throws or gives an invalid decision ends it with `endedBy: fault` and the
 * message in `fault`.
 * @throws {RangeError} for impossible options.
 */
export function simulateSession(options: SimulationOptions): SessionResult {
  return new Session(options).play();
}

/** Ends the session. */
class ControllerFault extends Error {}

class Session {
  private readonly options: SimulationOptions;
  private readonly scenario: Scenario | ResolvedScenario;
  private readonly controller: Controller;
  private readonly forecaster: Forecaster | undefined;
  private readonly feed: ProgressFeed | undefined;
  private readonly link: PiecewisePath;
  private readonly playback: Playback;
  private readonly playbackRate: number;
  private readonly weights: QoeWeights;
  private readonly upcoming: readonly (readonly (readonly number[])[])[];
  private readonly segmentCount: number;
  private readonly utcMsAtStart: number;
  private readonly utcUncertaintySeconds: number;
  private readonly tickSeconds: number;
  private readonly cutoffSeconds: number;
  private readonly decisionMillis: number[] = [];

  private readonly rows: SegmentRow[] = [];
  private readonly downloads: Download[] = [];
  private readonly initialised: boolean[];
  private previousBitrateBps: number | undefined;
  private requestedBits = 0;
  private wastedBits = 0;

  constructor(options: SimulationOptions) {
    const { trace, scenario, controller } = options;
    const { stallLevelSeconds } = scenario.browser;
    const startSeconds = options.startSeconds ?? 0;
    this.options = options;
    this.scenario = scenario;
    this.controller = controller;
    this.forecaster = options.forecaster;
    this.feed = this.forecaster && new ProgressFeed(this.forecaster, PROGRESS_BIN_SECONDS);
    this.tickSeconds = options.tickSeconds ?? TICK_SECONDS;
    this.cutoffSeconds = options.cutoffSeconds ?? CUTOFF_SECONDS;
    this.segmentCount = options.segmentCount ?? scenario.segmentCount;
    expect(startSeconds >= 0, 'startSeconds', 'a number >= 0', startSeconds);
    expect(this.tickSeconds > 0, 'tickSeconds', 'a number > 0', this.tickSeconds);
    expect(
      Number.isInteger(this.segmentCount) && this.segmentCount >= 1 && this.segmentCount <= scenario.segmentCount,
      'segmentCount',
      `a whole number from 1 to ${scenario.segmentCount}`,
      this.segmentCount,
    );
    expect(
      scenario.bufferCapSeconds > scenario.segmentSeconds + stallLevelSeconds,
      'scenario.bufferCapSeconds',
      `more than a segment and the stall level (${scenario.segmentSeconds + stallLevelSeconds} s)`,
      scenario.bufferCapSeconds,
    );

    this.link = pageLinkOf(trace, scenario).from(startSeconds);
    this.playbackRate = scenario.playbackRate ?? 1;
    expect(this.playbackRate > 0, 'scenario.playbackRate', 'a number > 0', this.playbackRate);
    this.playback = new Playback(stallLevelSeconds, this.playbackRate);
    this.weights = { ...qoeWeights('linear', scenario.ladderBps), mu: scenario.mu, lambda: scenario.lambda };
    this.upcoming = upcomingSizesOf(scenario, this.segmentCount);
    this.initialised = scenario.ladderBps.map(() => scenario.browser.initSegmentBits <= 0);
    this.utcMsAtStart = traceStartUtcMs(trace.metadata) + (startSeconds + (options.utcErrorSeconds ?? 0)) * 1000;
    this.utcUncertaintySeconds = options.utcUncertaintySeconds ?? UTC_UNCERTAINTY_SECONDS;
  }

  play(): SessionResult {
    this.forecaster?.start({
      utcMsAtStart: this.utcMsAtStart,
      utcUncertaintySeconds: this.utcUncertaintySeconds,
      seed: this.options.seed ?? 0,
    });
    let endedBy: SessionResult['endedBy'] = 'end';
    let fault: string | undefined;
    try {
      for (let index = 0; index < this.segmentCount; index++) {
        if (!this.playSegment(index)) {
          endedBy = 'cutoff';
          break;
        }
      }
    } catch (error) {
      if (!(error instanceof ControllerFault)) throw error;
      endedBy = 'fault';
      fault = error.message;
    }
    return this.result(endedBy, fault);
  }

  /** Waits for room, decides, downloads and appends. False if the session was cut off before. */
  private playSegment(index: number): boolean {
    const { playback, scenario } = this;
    const stallSecondsBefore = playback.stallSeconds;
    if (index > 0 && !this.waitUntil(playback.nowSeconds + this.secondsToNextRequest())) return false;

    let decision = this.decide(index);
    let abandonments = 0;
    let abandonedBits = 0;
    let firstRequestAtSeconds: number | undefined;
    let bufferAtFirstRequest = 0;
    for (;;) {
      const { representation } = decision;
      if (!this.initialise(representation)) return false;
      firstRequestAtSeconds ??= playback.nowSeconds;
      if (abandonments === 0) bufferAtFirstRequest = playback.bufferLevelSeconds;
      const sizeBits = this.upcoming[index]![0]![representation]!;
      const bitrateBps = scenario.ladderBps[representation]!;
      const flight = new Flight(this.link, playback.nowSeconds, sizeBits, scenario.rttSeconds);
      this.feed?.begin(flight);
      this.requestedBits += sizeBits;
      const outcome = this.fly(flight, index, representation, abandonments);
      const receivedBits = flight.receivedBits(playback.nowSeconds);
      this.feed?.report(playback.nowSeconds, true);
      if (outcome === 'cutoff') {
        this.wastedBits += receivedBits;
        return false;
      }
      this.downloads.push({
        segmentIndex: index,
        bitrateBps,
        receivedBits: outcome === 'complete' ? sizeBits : receivedBits,
        sizeBits,
        requestedAtSeconds: flight.requestedAtSeconds,
        downloadSeconds: playback.nowSeconds - flight.requestedAtSeconds,
        ...(flight.firstByteAtSeconds <= playback.nowSeconds && {
          latencySeconds: flight.firstByteAtSeconds - flight.requestedAtSeconds,
        }),
        abandoned: outcome !== 'complete',
      });
      if (outcome === 'complete') {
        const downloadSeconds = playback.nowSeconds - firstRequestAtSeconds;
        if (!this.waitUntil(playback.nowSeconds + scenario.browser.appendSeconds)) return false;
        playback.append(scenario.segmentSeconds);
        this.previousBitrateBps = bitrateBps;
        this.rows.push({
          index,
          bitrateBps,
          sizeBits,
          requestedAtSeconds: firstRequestAtSeconds,
          downloadSeconds,
          bufferLevelSeconds: bufferAtFirstRequest,
          stallSeconds: playback.stallSeconds - stallSecondsBefore,
          abandonedBits,
          reason: decision.reason,
        });
        return true;
      }
      this.wastedBits += receivedBits;
      abandonedBits += receivedBits;
      abandonments++;
      decision = outcome;
    }
  }

  /**
   * dash.js's rule: a request leaves when buffer level + segment duration < cap, plus the delay of polling, but not
   * before the gap after the append. A later append never causes an earlier request.
   */
  private secondsToNextRequest(): number {
    const { scenario, playback } = this;
    const { requestGapSeconds, requestLatenessSeconds } = scenario.browser;
    const excessSeconds = playback.bufferLevelSeconds + scenario.segmentSeconds - scenario.bufferCapSeconds;
    return Math.max(requestGapSeconds, excessSeconds / this.playbackRate + requestLatenessSeconds);
  }

  /**
   * Loads the representation's initialisation segment unless it is cached; the first one was loaded before second 0.
   */
  private initialise(representation: number): boolean {
    if (this.initialised[representation]) return true;
    this.initialised[representation] = true;
    const { playback } = this;
    if (this.rows.length === 0 && this.downloads.length === 0) return true;
    const { initSegmentBits } = this.scenario.browser;
    return this.waitUntil(playback.nowSeconds + this.link.downloadSeconds(playback.nowSeconds, initSegmentBits));
  }

  /** Downloads until the end, the cutoff, or a decision to abandon for another representation. */
  private fly(
    flight: Flight,
    index: number,
    representation: number,
    abandonments: number,
  ): 'complete' | 'cutoff' | Decision {
    const { playback, controller } = this;
    if (controller.reconsider !== undefined) {
      for (let tick = 1; ; tick++) {
        const at = flight.requestedAtSeconds + tick * this.tickSeconds;
        if (at >= flight.endsAtSeconds || at >= playback.waitedAtSeconds(this.cutoffSeconds)) break;
        playback.advanceTo(at);
        this.feed?.report(at, false);
        const answer = this.reconsider(flight, index, representation, abandonments);
        if (answer !== 'keep') return answer;
      }
    }
    return this.waitUntil(flight.endsAtSeconds) ? 'complete' : 'cutoff';
  }

  private decide(index: number): Decision {
    const state = this.state(index);
    const forecast = this.forecaster?.latest(state.nowSeconds);
    const began = this.options.timings ? performance.now() : 0;
    const decision = this.asked(() => this.controller.decide(state, forecast));
    if (this.options.timings) this.decisionMillis.push(performance.now() - began);
    this.options.onDecision?.({
      asked: 'decide',
      state: { ...state, downloads: [...state.downloads] },
      ...(forecast && { forecast }),
      answer: decision,
    });
    this.check(decision);
    return decision;
  }

  private reconsider(flight: Flight, index: number, representation: number, abandonments: number): Decision | 'keep' {
    const state = this.state(index);
    const { nowSeconds } = state;
    const inFlight: InFlight = {
      segmentIndex: index,
      bitrateBps: this.scenario.ladderBps[representation]!,
      sizeBits: flight.sizeBits,
      requestedAtSeconds: flight.requestedAtSeconds,
      receivedBits: flight.receivedBits(nowSeconds),
      firstByteAtSeconds: flight.firstByteAtSeconds <= nowSeconds ? flight.firstByteAtSeconds : undefined,
      lastProgressAtSeconds: flight.lastProgressAtSeconds(nowSeconds),
      abandonments,
      sessionRequestedBits: this.requestedBits,
      sessionWastedBits: this.wastedBits,
    };
    const forecast = this.forecaster?.latest(nowSeconds);
    const answer = this.asked(() => this.controller.reconsider!(state, inFlight, forecast));
    this.options.onDecision?.({
      asked: 'reconsider',
      state: { ...state, downloads: [...state.downloads] },
      inFlight,
      ...(forecast && { forecast }),
      answer,
    });
    if (answer === 'keep') return answer;
    this.check(answer);
    if (answer.representation === representation) {
      throw new ControllerFault(
        `reconsider at ${nowSeconds} s: expected 'keep' or another representation, ` +
          `got ${representation}, which is in flight`,
      );
    }
    return answer;
  }

  private asked<T>(question: () => T): T {
    try {
      return question();
    } catch (error) {
      throw new ControllerFault(error instanceof Error ? (error.stack ?? error.message) : String(error), {
        cause: error,
      });
    }
  }

  private check(decision: Decision): void {
    const { representation, reason }: Partial<Decision> = decision ?? {};
    const wrong = (expected: string, got: unknown) =>
      new ControllerFault(`decision at ${this.playback.nowSeconds} s: expected ${expected}, got ${got}`);
    if (this.scenario.ladderBps[representation!] === undefined) {
      throw wrong(`a representation from 0 to ${this.scenario.ladderBps.length - 1}`, representation);
    }
    if (typeof reason !== 'string') throw wrong('a reason in words', reason);
  }

  private state(index: number): PlayerState {
    const { playback, scenario } = this;
    return {
      nowSeconds: playback.nowSeconds,
      utcMs: this.utcMsAtStart + playback.nowSeconds * 1000,
      utcUncertaintySeconds: this.utcUncertaintySeconds,
      started: playback.started,
      playbackRate: this.playbackRate,
      isPaused: false,
      bufferLevelSeconds: playback.bufferLevelSeconds,
      bufferCapSeconds: scenario.bufferCapSeconds,
      segmentSeconds: scenario.segmentSeconds,
      segmentIndex: index,
      segmentsRemaining: this.segmentCount - index,
      ladderBps: scenario.ladderBps,
      upcomingSizesBits: this.upcoming[index]!,
      previousBitrateBps: this.previousBitrateBps,
      downloads: this.downloads,
      weights: this.weights,
    };
  }

  /** Advances playback, at most to the cutoff; false if the session is cut off before `seconds`. */
  private waitUntil(seconds: number): boolean {
    const cutoffAt = this.playback.waitedAtSeconds(this.cutoffSeconds);
    this.playback.advanceTo(Math.min(seconds, cutoffAt));
    return seconds < cutoffAt;
  }

  private result(endedBy: SessionResult['endedBy'], fault: string | undefined): SessionResult {
    const { options, playback, rows } = this;
    const { trace } = options;
    const stallOfRows = rows.reduce((sum, row) => sum + row.stallSeconds, 0);
    const wasteOfRows = rows.reduce((sum, row) => sum + row.abandonedBits, 0);
    return {
      trace: trace.name,
      dataset: trace.metadata.dataset,
      group: trace.metadata.recordingGroup,
      startSeconds: options.startSeconds ?? 0,
      algorithm: options.algorithm ?? this.controller.name,
      seed: options.seed ?? 0,
      endedBy,
      ...(fault !== undefined && { fault }),
      segments: rows,
      ...sessionTotals(
        {
          segments: rows,
          startupSeconds: playback.startupSeconds,
          stallCount: playback.stallCount,
          segmentCount: this.segmentCount,
          // Zero unless the session ended during a download.
          unfinishedStallSeconds: endedBy === 'end' ? 0 : playback.stallSeconds - stallOfRows,
          unfinishedBits: endedBy === 'end' ? 0 : this.wastedBits - wasteOfRows,
        },
        this.scenario,
      ),
      ...decisionMicros(this.decisionMillis),
    };
  }
}

function expect(holds: boolean, field: string, expected: string, got: unknown): void {
  if (!holds) throw new RangeError(`simulateSession: ${field}: expected ${expected}, got ${String(got)}`);
}
