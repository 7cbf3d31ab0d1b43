/**
 * A player behind the session's port, on a virtual clock. It waits for room in the buffer, asks for a decision,
 * requests, reads and appends. Subclasses play streams on demand and live streams.
 */

import type { PiecewisePath } from '../../../abr/index.ts';
import { assemble } from '../../../session/assemble.ts';
import { Flow } from '../../../session/flow.ts';
import { Events } from '../../../session/page/events.ts';
import { resolveOptions } from '../../../session/page/options.ts';
import type {
  Choice,
  LiveMedia,
  LivePosition,
  Period,
  PlayerPort,
  RatePort,
  Segment,
  Situation,
} from '../../../session/player-port.ts';
import { decisionMicros } from '../../evaluation/statistics/quantiles.ts';
import { type Sender, type SharedFlight, SharedLink } from '../../link/shared-link.ts';
import { linkOf } from '../../link/trace-link.ts';
import { scenarioQualities, scenarioWeights } from '../../objective.ts';
import { ObservedController } from '../../observed-controller.ts';
import type { ResolvedScenario, SegmentRow, SessionResult } from '../../results.ts';
import { resolveScenario } from '../../scenario-file.ts';
import { assumedLink, type Scenario } from '../../scenarios.ts';
import { countedSegments, sessionTotals } from '../../session-result.ts';
import { traceStartUtcMs } from '../../trace.ts';
import type { EventQueue, QueuedEvent } from '../event-queue.ts';
import type { SimulationOptions } from '../simulation-options.ts';
import { virtualHost } from '../virtual-host.ts';
import { Flight } from './flight.ts';
import type { Playback } from './playback.ts';

/** The media element. Times are of the player's clock, levels seconds of media. */
type MediaElement = Omit<Playback, 'append' | 'waitedAtSeconds'>;

/** A request in flight. */
interface Attempt {
  flight: Airborne;
  /** Undefined for an initialisation segment. */
  representation: number | undefined;
  /** Schedules the request's events from now on. */
  follow(): void;
}

/** The part of a flight that subclasses need. */
type Airborne = SharedFlight & Pick<Flight, 'sizeBits' | 'requestedAtSeconds'>;

/** The segment that is being loaded: one row of the result. */
interface Loading {
  index: number;
  stallSecondsBefore: number;
  abandonedBits: number;
  first?: { requestedAtSeconds: number; bufferLevelSeconds: number };
  reason: string;
}

/** A player's times are differences of the queue's times, and so rounded. */
export const ROUNDING_SECONDS = 1e-9;

/** Number of the first step of a period after these seconds; 0 for less than 0 s. */
export const nextStep = (seconds: number, period: number) =>
  Math.max(0, Math.floor((seconds + ROUNDING_SECONDS) / period) + 1);

const idOf = (representation: number) => `video-${representation}`;
const indexOf = (id: string) => Number(id.slice('video-'.length));

/** Times are seconds of the player's clock, which begins at its join. */
export abstract class SimulatedPlayer<F extends Airborne = Airborne> implements PlayerPort {
  readonly name = 'the simulator';
  readonly rate?: RatePort;
  readonly startSeconds: number;
  readonly segmentCount: number;
  readonly rows: SegmentRow[] = [];
  protected readonly scenario: Scenario | ResolvedScenario;
  protected readonly link: PiecewisePath;
  protected readonly access: Sender;
  protected attempt: Attempt | undefined;
  private _followedEndSeconds = 0;
  protected flow!: Flow;
  private readonly _controller: ObservedController;
  private readonly _offsetSeconds: number;
  private readonly _initialised: boolean[];
  private readonly _sizes: readonly (readonly number[])[];
  private readonly _ladder: Situation['ladder'];
  private _loading!: Loading;
  private _wastedBits = 0;
  private _ended: Pick<SessionResult, 'endedBy' | 'fault'> | undefined;
  private readonly _pending = new Set<QueuedEvent>();
  /** A fault of the simulator itself. */
  private _failure: unknown;

  /** @throws {RangeError} for a trace without capacity. */
  constructor(
    protected readonly options: SimulationOptions,
    protected readonly queue: EventQueue,
  ) {
    const { trace, scenario } = options;
    this.scenario = scenario;
    this.startSeconds = options.startSeconds ?? 0;
    this.segmentCount = options.segmentCount ?? scenario.segmentCount;
    this.link = linkOf(trace, scenario).from(this.startSeconds);
    this.access = options.access ?? new SharedLink().access();
    this._offsetSeconds = this.access.offsetSeconds;
    this._sizes = resolveScenario(scenario).segmentSizesBits;
    this._ladder = scenario.ladderBps.map((bitrateBps, i) => ({ id: idOf(i), bitrateBps }));
    this._initialised = scenario.ladderBps.map(() => scenario.browser.initSegmentBits <= 0);
    this._controller = new ObservedController(options.controller, options);
  }

  protected abstract readonly playback: MediaElement;
  /** Second at which the session ends by itself, if nothing happens before. */
  protected abstract endsAtSeconds(): number;
  protected abstract readonly endedBy: SessionResult['endedBy'];
  /** Whether the first representation's initialisation segment was loaded before second 0. */
  protected abstract readonly hasFirstInit: boolean;
  /** Second of media up to which the buffer reaches. */
  protected abstract bufferedUntilSeconds(): number;
  /** Calls `choose` once there is room for the segment. */
  protected abstract lookFor(index: number): void;
  /** Seconds until the segment can be requested. */
  protected abstract missingSeconds(index: number): number;
  protected abstract newFlight(index: number, sizeBits: number): F;
  /** Schedules how the body is read from now on, and `complete` at its end. */
  protected abstract read(flight: F): void;
  /** The whole segment is here: it reaches the buffer `appendSeconds` later. */
  protected abstract appended(index: number): void;
  protected abstract live(index: number): LiveMedia | undefined;
  abstract position(): LivePosition | undefined;

  /** Joins, and queues the first events. */
  start(): void {
    const { options, queue, _controller: controller, scenario } = this;
    const { trace, utcErrorSeconds = 0 } = options;
    const utcMsAtStart = traceStartUtcMs(trace.metadata) + (this.startSeconds + utcErrorSeconds) * 1000;
    const host = virtualHost(
      queue,
      (action) => this._run(action),
      () => utcMsAtStart + this.nowSeconds * 1000,
    );
    const events = new Events({ logger: null, host });
    const traceSecondsAt = (nowSeconds: number) =>
      this.startSeconds + this.nowSeconds + nowSeconds - this.flow.clock.nowSeconds();
    const { forecaster, objective: qoe = 'linear', seed = 0, downloadsKept } = options;
    const quality = scenarioQualities(scenario, options, indexOf);
    const given = resolveOptions({ controller, seed, logger: null, qoe, ...(quality && { quality }) });
    const resolved = assemble(given, host, {
      weightsOf: scenarioWeights(scenario, options),
      forecaster: typeof forecaster === 'function' ? forecaster(traceSecondsAt) : forecaster,
      downloadsKept,
    });
    this.flow = new Flow(this, resolved, events);
    events.on('fault', ({ code, message, cause }) => {
      if (code === 'forecaster-failed') return;
      if (code !== 'controller-failed') this._failure ??= cause ?? new Error(message);
      this.finish({ endedBy: 'fault', fault: cause instanceof Error ? (cause.stack ?? message) : message });
    });
    this.at(0, () => this.join());
  }

  protected abstract join(): void;

  get nowSeconds(): number {
    return this.queue.nowSeconds - this._offsetSeconds;
  }

  get isOver(): boolean {
    if (this._failure) throw this._failure;
    return this._ended !== undefined;
  }

  manifestUrl(): undefined {}

  assumed() {
    return assumedLink(this.scenario);
  }

  situation(): Situation {
    const { playback, scenario } = this;
    const end = this.bufferedUntilSeconds();
    return {
      period: this.period,
      ladder: this._ladder,
      playback: {
        segmentSeconds: scenario.segmentSeconds,
        bufferLevelSeconds: playback.bufferLevelSeconds,
        bufferCapSeconds: this.bufferCapSeconds,
        playbackRate: playback.playbackRate,
        isPaused: false,
      },
      bufferedUntilSeconds: end,
      playableUntilSeconds: end,
      live: this.position(),
      indexedBits: (id, index) => (this.options.learnsSizes ? undefined : this._sizes[index]?.[indexOf(id)]),
    };
  }

  protected get bufferCapSeconds(): number {
    return this.scenario.bufferCapSeconds;
  }

  protected get period(): Period {
    return { id: '0', startSeconds: 0, firstIndex: 0, segmentCount: this.segmentCount, segmentsAfter: 0 };
  }

  abandon(choice: Choice): void {
    this._loading.abandonedBits += this.giveUp();
    this._request(choice);
  }

  /** Reschedules the flight, whose end may have moved because the link is shared differently. */
  followLink(): void {
    const { attempt } = this;
    if (attempt === undefined || attempt.flight.endsAtSeconds === this._followedEndSeconds || this.isOver) return;
    this.forgetEvents();
    this._follow(attempt);
  }

  private _follow(attempt: Attempt): void {
    this._followedEndSeconds = attempt.flight.endsAtSeconds;
    attempt.follow();
  }

  /** Runs `action` at a second that is not before now, if the session is not over then. */
  protected at(seconds: number, action: () => void): QueuedEvent {
    const event = this.queue.at(Math.max(this.queue.nowSeconds, seconds + this._offsetSeconds), () => {
      this._pending.delete(event);
      this._run(action);
    });
    return event;
  }

  /** As `at`, for events that the present segment waits for. `forgetEvents` cancels them. */
  protected soon(seconds: number, action: () => void): void {
    this._pending.add(this.at(seconds, action));
  }

  protected forgetEvents(): void {
    for (const event of this._pending) this.queue.cancel(event);
    this._pending.clear();
  }

  /** Advances playback to now. If the session has not ended by then, runs `action`. */
  private _run(action: () => void): void {
    if (this.isOver) return;
    const endsAtSeconds = this.endsAtSeconds();
    this.playback.advanceTo(Math.min(this.nowSeconds, endsAtSeconds));
    if (this.nowSeconds < endsAtSeconds) action();
    else this.finish({ endedBy: this.endedBy });
  }

  protected begin(index: number): void {
    this._loading = { index, stallSecondsBefore: this.playback.stallSeconds, abandonedBits: 0, reason: '' };
    this.lookFor(index);
  }

  /** There is room for the segment. */
  protected choose(): void {
    const choice = this.flow.decide();
    // A controller that failed ends the session after this event.
    if (choice === undefined) return;
    const { waitSeconds = 0 } = this.flow.session.decision!;
    if (waitSeconds > 0) this.soon(this.nowSeconds + waitSeconds, () => this._request(choice));
    else this._request(choice);
  }

  private _request(choice: Choice): void {
    const { _loading: loading } = this;
    const representation = indexOf(choice.representationId);
    loading.reason = this.flow.session.decision!.reason;
    const isFirst = this.hasFirstInit && this.rows.length === 0 && loading.first === undefined;
    const isInitialised = this._initialised[representation] || isFirst;
    this._initialised[representation] = true;
    if (isInitialised) this._sendWhenThere(representation);
    else this._initialise(() => this._sendWhenThere(representation));
  }

  private _sendWhenThere(representation: number): void {
    const missing = this.missingSeconds(this._loading.index);
    if (missing > 0) this.soon(this.nowSeconds + missing, () => this._send(representation));
    else this._send(representation);
  }

  private _initialise(then: () => void): void {
    const { flow } = this;
    const { initSegmentBits: bits } = this.scenario.browser;
    const flight = this.wholeFlight(bits);
    const end = () => {
      this.forgetEvents();
      this.attempt = undefined;
      this.access.end(this.nowSeconds);
      flow.progressed(flight, { totalBits: bits });
      flow.ended(flight, 'whole');
      then();
    };
    this._fly(flight, undefined, () => this.soon(flight.endsAtSeconds, end));
    flow.began(flight, { isMedia: false });
  }

  protected wholeFlight(sizeBits: number): Flight {
    const link = this.access.shareOf(this.link);
    return new Flight(link, this.nowSeconds, sizeBits, this.scenario.rttSeconds, this.responseSeconds(sizeBits));
  }

  /** From the last byte of a response to the page. */
  protected responseSeconds(bits: number): number {
    const { responseSeconds, responseSecondsPerBit } = this.scenario.browser;
    return responseSeconds + responseSecondsPerBit * bits;
  }

  private _fly(flight: Airborne, representation: number | undefined, follow: () => void): void {
    this.access.begin(flight);
    this.attempt = { flight, representation, follow };
    this._follow(this.attempt);
  }

  private _send(representation: number): void {
    const { _loading: loading, scenario, flow, playback } = this;
    const { index } = loading;
    const sizeBits = this._sizes[index]![representation]!;
    loading.first ??= { requestedAtSeconds: this.nowSeconds, bufferLevelSeconds: playback.bufferLevelSeconds };
    const flight = this.newFlight(index, sizeBits);
    const segment: Segment = {
      period: this.period,
      representation: { id: idOf(representation), bitrateBps: scenario.ladderBps[representation]! },
      index,
      segmentSeconds: scenario.segmentSeconds,
      endSeconds: (index + 1) * scenario.segmentSeconds,
      indexedBits: this.options.learnsSizes ? undefined : sizeBits,
    };
    flow.began(flight, { isMedia: true, segment, live: this.live(index) });
    this._fly(flight, representation, () => this.read(flight));
  }

  /** The body has arrived. */
  protected complete(): void {
    const { _loading: loading, playback, scenario, flow } = this;
    const { flight, representation } = this.attempt!;
    const { index, first } = loading;
    this.forgetEvents();
    this.attempt = undefined;
    this.access.end(this.nowSeconds);
    flow.ended(flight, 'whole', this.nowSeconds - flight.requestedAtSeconds);
    const downloadSeconds = this.nowSeconds - first!.requestedAtSeconds;
    this.soon(this.nowSeconds + scenario.browser.appendSeconds, () => {
      this.appended(index);
      if (playback.started) flow.played();
      this.rows.push({
        index,
        bitrateBps: scenario.ladderBps[representation!]!,
        sizeBits: flight.sizeBits,
        requestedAtSeconds: first!.requestedAtSeconds,
        downloadSeconds,
        bufferLevelSeconds: first!.bufferLevelSeconds,
        stallSeconds: playback.stallSeconds - loading.stallSecondsBefore,
        abandonedBits: loading.abandonedBits,
        reason: loading.reason,
      });
      this.begin(index + 1);
    });
  }

  /** Ends the request in flight, if any, and the segment's events. Returns the request's bits. */
  protected giveUp(): number {
    const { attempt, flow, access } = this;
    this.forgetEvents();
    this.attempt = undefined;
    if (attempt === undefined) return 0;
    const { flight, representation } = attempt;
    const receivedBits = flight.receivedBits(this.nowSeconds);
    access.end(this.nowSeconds);
    if (representation === undefined) return 0;
    flow.progressed(flight, { totalBits: receivedBits });
    flow.ended(flight, 'abandoned');
    this._wastedBits += receivedBits;
    return receivedBits;
  }

  protected finish(end: Pick<SessionResult, 'endedBy' | 'fault'>): void {
    if (this.isOver) return;
    const { _wastedBits: wastedBits } = this;
    this.giveUp();
    // The end of a stream wastes nothing.
    if (end.endedBy === 'end') this._wastedBits = wastedBits;
    this._ended = end;
    this.flow.stop();
  }

  /** The result of a session that is over. */
  result(more: Partial<SessionResult> = {}): SessionResult {
    const { options, rows, playback, scenario, _controller: controller } = this;
    const { trace } = options;
    const end = this._ended!;
    // The rows of a finished session have all stalls and all abandoned bits.
    const hasUnfinished = scenario.live !== undefined || end.endedBy !== 'end';
    const stallOfRows = rows.reduce((sum, row) => sum + row.stallSeconds, 0);
    const wasteOfRows = rows.reduce((sum, row) => sum + row.abandonedBits, 0);
    const { handoversAtSeconds, decisionMillis } = controller;
    return {
      trace: trace.name,
      dataset: trace.metadata.dataset,
      group: trace.metadata.recordingGroup,
      startSeconds: this.startSeconds,
      algorithm: options.algorithm ?? controller.name,
      seed: options.seed ?? 0,
      ...end,
      segments: rows,
      ...sessionTotals(
        {
          segments: rows,
          startupSeconds: playback.startupSeconds,
          stalls: playback.stalls,
          segmentCount: countedSegments({ ...end, segmentCount: this.segmentCount }, scenario),
          unfinishedStallSeconds: hasUnfinished ? playback.stallSeconds - stallOfRows : 0,
          unfinishedBits: hasUnfinished ? this._wastedBits - wasteOfRows : 0,
        },
        scenario,
      ),
      ...(handoversAtSeconds !== undefined && { handoversAtSeconds }),
      ...decisionMicros(decisionMillis),
      ...more,
    };
  }
}
