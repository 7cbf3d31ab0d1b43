/** What sessions on demand and live ones share: decisions, requests, books. Subclasses are the player. */

import {
  type Controller,
  type Decision,
  type Download,
  type Forecast,
  type Forecaster,
  type InFlight,
  PACE_PERIOD_SECONDS,
  type Pace,
  type PiecewisePath,
  type PlayerState,
  type QoeWeights,
  qoeWeights,
  type ValidForecast,
  validForecast,
} from '../../abr/index.ts';
import { decisionMicros } from '../evaluation/quantiles.ts';
import { type FlightLink, type Sender, type SharedFlight, SharedLink } from '../link/shared-link.ts';
import type { ResolvedScenario, SegmentRow, SessionResult } from '../results.ts';
import type { Scenario } from '../scenarios.ts';
import { traceStartUtcMs } from '../trace.ts';
import { Flight } from './flight.ts';
import { sessionTotals } from './session-result.ts';
import { pageLinkOf, sizesOf } from './session-setup.ts';
import type { DecisionRecord, SimulationOptions } from './simulation-options.ts';

/** Uncertainty of the player's UTC: that of a device's clock. */
const UTC_UNCERTAINTY_SECONDS = 2;

/** The number of segments whose sizes are in the player's state, from the next one on. */
const UPCOMING_SEGMENTS = 8;

/** Ends the session. */
class ControllerFault extends Error {}

/** The media element. Times are of the session's clock, levels seconds of media. */
interface Player {
  readonly nowSeconds: number;
  readonly started: boolean;
  readonly bufferLevelSeconds: number;
  readonly playbackRate: number;
  readonly startupSeconds: number;
  readonly stallSeconds: number;
  readonly stallCount: number;
}

export type Airborne = SharedFlight &
  Pick<Flight, 'sizeBits' | 'requestedAtSeconds' | 'firstByteAtSeconds'> &
  Partial<Pick<Flight, 'lastBitsAtSeconds'>>;

/** Yields a second of its clock, and continues then, or when the download in flight ends, if earlier. */
export type Process<Result> = Generator<number, Result, void>;

/** Plays a session that has its link for itself, so that nothing happens while it waits. */
export function playAlone<Result>(process: Process<Result>): Result {
  for (;;) {
    const { done, value } = process.next();
    if (done) return value;
  }
}

export interface Attempt<F extends Airborne> {
  flight: F;
  representation: number;
  abandonments: number;
  /** The controller keeps it until then. */
  keptUntilSeconds?: number;
}

/** How a request ends; a decision abandons it. */
type Outcome = 'complete' | 'early' | Decision;

/** Waits return false if a segment ends early: the session is over, or has jumped. */
export abstract class Session<F extends Airborne> {
  readonly startSeconds: number;
  readonly segmentCount: number;
  readonly rows: SegmentRow[] = [];
  readonly downloads: Download[] = [];
  private readonly forecaster: Forecaster | undefined;
  /** The newest forecast as published, and as validated. */
  private published: Forecast | undefined;
  private forecast: ValidForecast | undefined;
  protected readonly link: PiecewisePath;
  private readonly access: Sender;
  private previousBitrateBps: number | undefined;
  private index = 0;
  private handoversAtSeconds: number | undefined;
  /** `[k][representation]`: sizes of this segment (k = 0) and the following ones. */
  private upcomingSizesBits: readonly (readonly number[])[] = [];
  private attempt: Attempt<F> | undefined;
  private requestedBits = 0;
  private wastedBits = 0;
  protected readonly scenario: Scenario | ResolvedScenario;
  private readonly controller: Controller;
  private readonly weights: QoeWeights;
  private readonly utcMsAtStart: number;
  private readonly initialised: boolean[];
  private readonly decisionMillis: number[] = [];

  /** @throws {RangeError} for a trace without capacity. */
  constructor(private readonly options: SimulationOptions) {
    const { trace, scenario, controller } = options;
    this.scenario = scenario;
    this.controller = controller;
    this.forecaster = options.forecaster;
    this.startSeconds = options.startSeconds ?? 0;
    this.segmentCount = options.segmentCount ?? scenario.segmentCount;
    this.link = pageLinkOf(trace, scenario).from(this.startSeconds);
    this.access = options.access ?? new SharedLink().access();
    this.weights = { ...qoeWeights('linear', scenario.ladderBps), mu: scenario.mu, lambda: scenario.lambda };
    this.initialised = scenario.ladderBps.map(() => scenario.browser.initSegmentBits <= 0);
    this.utcMsAtStart = traceStartUtcMs(trace.metadata) + (this.startSeconds + (options.utcErrorSeconds ?? 0)) * 1000;
  }

  protected abstract readonly playback: Player;
  /** The first representation's initialisation segment was loaded before second 0. */
  protected abstract readonly isInitialised: boolean;
  /** The session ended with its stream, so that what arrived of a segment is not wasted. */
  protected get isOver(): boolean {
    return false;
  }
  /** No wait ends early before this second. */
  protected abstract get goesOnUntilSeconds(): number;
  protected abstract waitUntil(seconds: number): boolean;
  /** Waits until dash.js looks for the next segment. */
  protected abstract waitForRoom(index: number): boolean;
  protected abstract request(index: number, sizeBits: number): F;
  /** Reports a flight's progress until now to the forecaster. */
  protected abstract report(hasEnded: boolean): void;
  /** Waits until a complete segment is in the buffer. */
  protected abstract append(): boolean;

  /** Waits until the segment can be requested. */
  protected waitForMedia(_index: number): boolean {
    return true;
  }

  /** The download as the controller sees it; undefined: it says nothing about the link. */
  protected measured(download: Download): Download | undefined {
    return download;
  }

  /** The link waits for the encoder, so there is nothing to reconsider. */
  protected isWaiting(_flight: F): boolean {
    return false;
  }

  /** Plays a session to its end, or to the controller's fault. */
  protected *run(play: Process<SessionResult['endedBy']>): Process<Pick<SessionResult, 'endedBy' | 'fault'>> {
    this.forecaster?.start({
      utcMsAtStart: this.utcMsAtStart,
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      seed: this.options.seed ?? 0,
    });
    try {
      return { endedBy: yield* play };
    } catch (error) {
      if (!(error instanceof ControllerFault)) throw error;
      return { endedBy: 'fault', fault: error.message };
    }
  }

  /** Waits for room, decides, downloads and appends. False if the segment ended early. */
  protected *playSegment(index: number): Process<boolean> {
    const { scenario, playback } = this;
    this.index = index;
    this.upcomingSizesBits = sizesOf(scenario).slice(index, Math.min(index + UPCOMING_SEGMENTS, this.segmentCount));
    const stallSecondsBefore = playback.stallSeconds;
    if (!this.waitForRoom(index)) return false;

    let decision = this.decide(this.state());
    const { waitSeconds = 0 } = decision;
    if (waitSeconds > 0 && !this.waitUntil(playback.nowSeconds + waitSeconds)) return false;
    let abandonments = 0;
    let abandonedBits = 0;
    let firstRequestAtSeconds: number | undefined;
    let bufferAtFirstRequest = 0;
    for (;;) {
      const { representation } = decision;
      if (!this.initialised[representation] && !(yield* this.initialise(representation))) return false;
      if (!this.waitForMedia(index)) return false;
      yield playback.nowSeconds;
      firstRequestAtSeconds ??= playback.nowSeconds;
      if (abandonments === 0) bufferAtFirstRequest = playback.bufferLevelSeconds;
      const { flight, outcome, sizeBits, receivedBits } = yield* this.attemptDownload(representation, abandonments);
      const bitrateBps = scenario.ladderBps[representation]!;
      if (outcome === 'early') {
        if (!this.isOver) this.wastedBits += receivedBits;
        return false;
      }
      const download = this.measured({
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
      if (download !== undefined) this.downloads.push(download);
      if (outcome === 'complete') {
        const downloadSeconds = playback.nowSeconds - firstRequestAtSeconds;
        if (!this.append()) return false;
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

  /** Requests a segment and follows it until it has arrived, is to be abandoned or has ended early. */
  private *attemptDownload(representation: number, abandonments: number) {
    const { playback, access } = this;
    const sizeBits = this.upcomingSizesBits[0]![representation]!;
    const flight = this.request(this.index, sizeBits);
    access.begin(flight);
    this.requestedBits += sizeBits;
    const attempt: Attempt<F> = { flight, representation, abandonments };
    this.attempt = attempt;
    const hasTicks = this.controller.reconsider !== undefined;
    let outcome: Outcome | undefined;
    for (let tick = 1; outcome === undefined; tick++) {
      const tickAtSeconds = hasTicks
        ? flight.requestedAtSeconds + tick * PACE_PERIOD_SECONDS
        : Number.POSITIVE_INFINITY;
      const isEarly = !(yield* this.shareUntil(tickAtSeconds, flight));
      outcome = isEarly ? 'early' : this.fly(attempt, tickAtSeconds);
    }
    this.attempt = undefined;
    const receivedBits = flight.receivedBits(playback.nowSeconds);
    this.report(true);
    access.end(playback.nowSeconds);
    return { flight, outcome, sizeBits, receivedBits };
  }

  protected utcMs(nowSeconds: number): number {
    return this.utcMsAtStart + nowSeconds * 1000;
  }

  /** Without `hasUnfinished` the rows have all stalls and all abandoned bits. */
  protected result(
    end: Pick<SessionResult, 'endedBy' | 'fault'>,
    { segmentCount, hasUnfinished }: { segmentCount: number; hasUnfinished: boolean },
  ): SessionResult {
    const { options, rows, playback } = this;
    const { trace } = options;
    const stallOfRows = rows.reduce((sum, row) => sum + row.stallSeconds, 0);
    const wasteOfRows = rows.reduce((sum, row) => sum + row.abandonedBits, 0);
    return {
      trace: trace.name,
      dataset: trace.metadata.dataset,
      group: trace.metadata.recordingGroup,
      startSeconds: this.startSeconds,
      algorithm: options.algorithm ?? this.controller.name,
      seed: options.seed ?? 0,
      ...end,
      segments: rows,
      ...sessionTotals(
        {
          segments: rows,
          startupSeconds: playback.startupSeconds,
          stallCount: playback.stallCount,
          segmentCount,
          unfinishedStallSeconds: hasUnfinished ? playback.stallSeconds - stallOfRows : 0,
          unfinishedBits: hasUnfinished ? this.wastedBits - wasteOfRows : 0,
        },
        this.scenario,
      ),
      ...(this.handoversAtSeconds !== undefined && { handoversAtSeconds: this.handoversAtSeconds }),
      ...decisionMicros(this.decisionMillis),
    };
  }

  /** The player's share of the link, for a flight that begins now. */
  protected linkNow(link: PiecewisePath): FlightLink {
    return this.access.shareOf(link);
  }

  private *initialise(representation: number): Process<boolean> {
    this.initialised[representation] = true;
    const { rows, downloads, scenario, playback, access } = this;
    if (this.isInitialised && rows.length === 0 && downloads.length === 0) return true;
    yield playback.nowSeconds;
    const { nowSeconds } = playback;
    const { initSegmentBits } = scenario.browser;
    const flight = new Flight(this.linkNow(this.link), nowSeconds, initSegmentBits, scenario.rttSeconds);
    access.begin(flight);
    const isLoaded = (yield* this.shareUntil(Number.POSITIVE_INFINITY, flight)) && this.waitUntil(flight.endsAtSeconds);
    access.end(playback.nowSeconds);
    return isLoaded;
  }

  /** Waits for a tick or the flight's end; undefined: the download goes on. */
  private fly(attempt: Attempt<F>, tickAtSeconds: number): Outcome | undefined {
    const { endsAtSeconds } = attempt.flight;
    if (tickAtSeconds >= endsAtSeconds) return this.waitUntil(endsAtSeconds) ? 'complete' : 'early';
    if (!this.waitUntil(tickAtSeconds)) return 'early';
    this.report(false);
    const answer = this.reconsider(attempt);
    return answer === 'keep' ? undefined : answer;
  }

  /** Lets others go on until `seconds` or the flight's end. False if the wait ends early. */
  private *shareUntil(seconds: number, flight: SharedFlight): Process<boolean> {
    for (;;) {
      const until = this.goesOnUntilSeconds;
      yield Math.min(seconds, until);
      if (Math.min(seconds, flight.endsAtSeconds) <= until) return true;
      if (!this.waitUntil(until)) return false;
    }
  }

  protected state(): PlayerState {
    const { scenario, playback, index } = this;
    return {
      nowSeconds: playback.nowSeconds,
      utcMs: this.utcMs(playback.nowSeconds),
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      started: playback.started,
      playbackRate: playback.playbackRate,
      isPaused: false,
      bufferLevelSeconds: playback.bufferLevelSeconds,
      bufferCapSeconds: scenario.bufferCapSeconds,
      segmentSeconds: scenario.segmentSeconds,
      segmentIndex: index,
      segmentsRemaining: this.segmentCount - index,
      ladderBps: scenario.ladderBps,
      upcomingSizesBits: this.upcomingSizesBits,
      previousBitrateBps: this.previousBitrateBps,
      downloads: this.downloads,
      weights: this.weights,
    };
  }

  private decide(state: PlayerState): Decision {
    const forecast = this.forecastAt(state.nowSeconds);
    const decision = this.timed(() => this.controller.decide(state, forecast));
    this.tellObserver({ asked: 'decide', state, ...(forecast && { forecast }), answer: decision });
    this.check(decision, state);
    return decision;
  }

  private timed<T>(question: () => T): T {
    const began = this.options.timings ? performance.now() : 0;
    const answer = asked(question);
    if (this.options.timings) this.decisionMillis.push(performance.now() - began);
    return answer;
  }

  private tellObserver(record: DecisionRecord): void {
    const { state } = record;
    this.options.onDecision?.({ ...record, state: { ...state, downloads: [...state.downloads] } });
  }

  /** The newest forecast; an invalid one counts as none, as in the plugin. */
  private forecastAt(nowSeconds: number): ValidForecast | undefined {
    const newest = this.forecaster?.latest(nowSeconds);
    if (newest === this.published) return this.forecast;
    this.published = newest;
    try {
      this.forecast = newest && validForecast(newest);
      if (this.forecast && this.forecast.handovers.length > 0) this.handoversAtSeconds ??= nowSeconds;
    } catch {
      this.forecast = undefined;
    }
    return this.forecast;
  }

  protected inFlightOf({ representation, flight, abandonments }: Attempt<F>, nowSeconds: number): InFlight {
    return {
      segmentIndex: this.index,
      bitrateBps: this.scenario.ladderBps[representation]!,
      sizeBits: flight.sizeBits,
      requestedAtSeconds: flight.requestedAtSeconds,
      receivedBits: flight.receivedBits(nowSeconds),
      firstByteAtSeconds: flight.firstByteAtSeconds <= nowSeconds ? flight.firstByteAtSeconds : undefined,
      lastBitsAtSeconds: flight.lastBitsAtSeconds?.(nowSeconds),
      abandonments,
      sessionRequestedBits: this.requestedBits,
      sessionWastedBits: this.wastedBits,
    };
  }

  private reconsider(attempt: Attempt<F>): Decision | 'keep' {
    const { representation } = attempt;
    const state = this.state();
    const { nowSeconds } = state;
    const { flight, keptUntilSeconds = flight.requestedAtSeconds + this.controller.settleSeconds! } = attempt;
    if (nowSeconds < keptUntilSeconds || this.isWaiting(flight)) return 'keep';
    const inFlight = this.inFlightOf(attempt, nowSeconds);
    const forecast = this.forecastAt(nowSeconds);
    const answer = asked(() => this.controller.reconsider!(state, inFlight, forecast));
    this.tellObserver({ asked: 'reconsider', state, inFlight, ...(forecast && { forecast }), answer });
    if (answer === 'keep') {
      attempt.keptUntilSeconds = nowSeconds + (this.controller.keepsForSeconds?.(state, inFlight) ?? 0);
      return answer;
    }
    this.check(answer, state);
    if (answer.representation === representation) {
      throw new ControllerFault(
        `reconsider at ${nowSeconds} s: expected 'keep' or another representation, ` +
          `got ${representation}, which is in flight`,
      );
    }
    return answer;
  }

  protected pace(): Pace {
    const state = this.state();
    this.report(false);
    const forecast = this.forecastAt(state.nowSeconds);
    const inFlight = this.attempt && this.inFlightOf(this.attempt, state.nowSeconds);
    const pace = this.timed(() => this.controller.pace!(state, inFlight, forecast));
    const { min, max } = state.live!.playbackRates;
    if (!(pace.playbackRate >= min && pace.playbackRate <= max)) {
      throw new ControllerFault(`pace at ${state.nowSeconds} s: expected ${min} to ${max}, got ${pace.playbackRate}`);
    }
    return pace;
  }

  private check(decision: Decision, { nowSeconds }: PlayerState): void {
    const { representation, reason }: Partial<Decision> = decision ?? {};
    const wrong = (expected: string, got: unknown) =>
      new ControllerFault(`decision at ${nowSeconds} s: expected ${expected}, got ${got}`);
    if (this.scenario.ladderBps[representation!] === undefined) {
      throw wrong(`a representation from 0 to ${this.scenario.ladderBps.length - 1}`, representation);
    }
    if (typeof reason !== 'string') throw wrong('a reason in words', reason);
  }
}

function asked<T>(question: () => T): T {
  try {
    return question();
  } catch (error) {
    throw new ControllerFault(error instanceof Error ? (error.stack ?? error.message) : String(error), {
      cause: error,
    });
  }
}
