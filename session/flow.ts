/**
 * The flow of one attachment (the plugin on one player), in the order of events:
 *
 * 1. A request begins.
 * 2. Its bits arrive.
 * 3. It ends, and counts as a measurement.
 * 4. The next video segment is decided.
 * 5. The video request under way is reconsidered.
 * 6. A live stream is paced.
 *
 * An adapter reports 1 to 3, of audio and video, and asks for 4; a ticker asks for 5 and 6. What the player shows at a
 * moment (its `Situation`: ladder, buffer, position) is read from the `PlayerPort` whenever it is needed.
 */

import type { Controller, Decision, InFlight } from '../abr/controller.ts';
import type { ResolvedOptions } from './assemble.ts';
import { LateAnswers, SessionClock, Ticker } from './clock.ts';
import { withCmcd } from './forecasting/cmcd.ts';
import type { Forecasting } from './forecasting/forecasting.ts';
import { Pacing } from './live/pacing.ts';
import type { Events, Guard } from './page/events.ts';
import type { Beginning, Choice, Outcome, PlayerPort, Progress, Situation } from './player-port.ts';
import { Request, type VideoRequest } from './request.ts';
import { loadLists, SegmentQualities, SIZE_LISTS } from './segment-lists.ts';
import { SegmentSizes } from './segment-sizes.ts';
import { type End, Session } from './session.ts';
import { type Input, isSame, type Moment, playerState } from './state.ts';

/** A player that has not requested an abandoned segment again within this time will not do so. */
const REPLACED_WITHIN_SECONDS = 1;
/** A page may let the player buffer without an end. A plan has steps of the cap, so more would make it coarse. */
const MOST_BUFFERED_SECONDS = 600;

/** What a decision was made on; for the next segment without a request under way. */
type Basis = Omit<Moment, 'inFlight'> & { inFlight?: InFlight; isUsed?: ((choice: Choice) => boolean) | undefined };

export class Flow {
  /** The history of the player's present source. */
  session: Session;
  controller: Controller;
  readonly clock: SessionClock;
  readonly forecasting: Forecasting | undefined;
  readonly pacing: Pacing | undefined;
  private readonly _sizes = new SegmentSizes();
  private readonly _qualities: SegmentQualities | undefined;
  /** Requests under way, by any object that the player keeps from the beginning of a request to its end. */
  private readonly _requests = new Map<object, Request>();
  /** The browser says later whether a response came from a cache or the network. */
  private readonly _answers: LateAnswers;
  private readonly _ticker: Ticker;
  private _isStopped = false;

  constructor(
    readonly port: PlayerPort,
    readonly options: ResolvedOptions,
    readonly events: Events,
  ) {
    const { host, timeSource, quality, sizes, newForecasting } = options;
    const { guard, _sizes, _requests: requests } = this;
    this.session = new Session(1, options.downloadsKept);
    this.controller = options.newController();
    this.clock = new SessionClock(host, { timeSource, events, requests });
    // Forecasts look for handovers only if a choice or a listener depends on them.
    const needsHandovers = () => options.cmcd || events.hasPaceListener || this.session.live.isPlaying;
    this.forecasting = newForecasting?.({ events, port, needsHandovers });
    this.pacing = port.rate && new Pacing(port.rate, this, host);
    this._answers = new LateAnswers(host, guard);
    this._ticker = new Ticker(host, this.clock, { guard, isNeeded: () => this._isTicking(), tick: this._tick });
    const unusable = (cause: unknown) => events.fault('quality-unusable', 'segment qualities are modelled', cause);
    this._qualities = quality ? new SegmentQualities(quality, host, unusable) : undefined;
    if (sizes === undefined) return;
    _sizes.onFault = (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error);
    _sizes.reload = () => void loadLists(sizes, host, SIZE_LISTS).then((file) => _sizes.useFile(file), _sizes.onFault);
    _sizes.reload();
  }

  /** 1. A request for audio or video was sent. The session's clock starts with the first one for media. */
  began(key: object, { isMedia, isOpaque, segment, live, url }: Beginning): void {
    if (!this.clock.isRunning && !isMedia) return;
    this.start();
    const { session, _sizes: sizes } = this;
    const atSeconds = this.clock.nowSeconds();
    if (live && segment) sizes.countLiveRequest();
    if (segment) session.switchOrigin(url);
    const waits = live && session.live.requested(live, segment !== undefined, atSeconds);
    const request = new Request(atSeconds, {
      segment,
      sizeBits: segment && sizes.sizeBits(segment, live !== undefined),
      meter: isOpaque ? undefined : this.forecasting?.meter,
      expectedSeconds: live ? 0 : session.origin.expectedSeconds(atSeconds, segment?.representation.id),
      waits,
      knownBps: session.knownBps,
    });
    request.keepUntil(isOpaque ? Number.POSITIVE_INFINITY : atSeconds + (session.decision?.keepsForSeconds || 0));
    this._requests.set(key, request);
    session.began(request);
    this._ticker.update();
  }

  /** 2. More of the body has arrived, or its headers, or the player has sent the request again (`attempt`). */
  progressed(key: object, progress: Progress): void {
    const request = this._requests.get(key);
    const { attempt, isInterim, isAnswered, addedBits, totalBits, chunks } = progress;
    if (!request || (!attempt && request.isPostponed) || (isInterim && request.countsAndSkipsReport())) return;
    if (!attempt && !isAnswered && !(addedBits! > 0 || totalBits! > 0 || chunks! > 0)) return;
    const atSeconds = this.clock.nowSeconds();
    if (attempt) {
      // A limited number of attempts, and not a byte: the server refuses the representation. A live segment may not exist yet.
      const isRefused = attempt === 'limited' && request.receivedBits === 0 && !this.session.live.isPlaying;
      request.restarted(atSeconds, attempt === 'later');
      if (isRefused) request.refused();
    } else if (isAnswered) request.answered(atSeconds, progress.sizeBits);
    else {
      request.received(atSeconds, progress);
      if (request.isVideo()) this._ticker.progressed(atSeconds);
    }
  }

  /** Before a decision: counts requests whose source is unknown yet, and the bits of reports that were skipped. */
  private _catchUp(): void {
    const { port, session } = this;
    this._answers.settle();
    if (!port.arrived || session.live.isPlaying) return;
    for (const key of this._requests.keys()) this.progressed(key, port.arrived(key));
  }

  /**
   * 3. A request ended; its last bits must have been reported before. `downloadSeconds`: duration of its last attempt,
   * where the player measures it. Default: until its last bits, if it is whole.
   */
  ended(key: object, outcome: Outcome, downloadSeconds?: number): void {
    const request = this._requests.get(key);
    if (!request) return;
    // Before the deletion: the clock looks for a suspension only during requests.
    const nowSeconds = this.clock.nowSeconds();
    this._requests.delete(key);
    const count = (source: End['source']) => {
      this.session.ended(request, { outcome, nowSeconds, downloadSeconds, source });
      if (outcome === 'whole' && request.segment) this._sizes.learn(request.segment, request.sizeBits);
      this._ticker.update();
    };
    if (outcome !== 'whole') count(undefined);
    else {
      // The player may ask for the next segment before the browser says whether a cache answered: `decide` then counts
      // the request as it is. A live stream cannot wait, because the end of a request tells when the encoder was done.
      const canWait = !this.session.live.isPlaying;
      const agoSeconds = nowSeconds - request.requestedAtSeconds;
      const isCounted = this._answers.find(request.receivedBits, agoSeconds, canWait, count);
      if (!isCounted) this.session.left(request);
    }
  }

  /** 4. Chooses the representation of the next video segment, if `isUsed`; undefined leaves it to the player. */
  decide(isUsed?: (choice: Choice) => boolean): Choice | undefined {
    const { port, session, events } = this;
    this.forecasting?.start(this.clock);
    this._catchUp();
    if (session.isBlind) {
      events.fault('nothing-measured', `no download could be measured: ${port.name} decides`);
      return undefined;
    }
    const situation = this.situation();
    if (!situation) return undefined;
    const { choice } = session;
    // While a live segment does not exist yet, all players ask again and again.
    const isRepeated = !isUsed && choice && (situation.live || port.isPolled);
    if (isRepeated && isSame(choice.situation, situation)) return choice.made;
    const input = this.takeInput(situation, undefined);
    return this._attempt(session, () => {
      const made = this._decided(this.controller.decide(input.state, input.forecast), { situation, input, isUsed });
      if (made) session.choice = { made, situation };
      return made;
    });
  }

  /** Ten times a second while a video request is under way or a live stream is paced. */
  private readonly _tick = (hasJustBegun: boolean): void => {
    const { session, clock, forecasting, guard } = this;
    const reconsider = () => {
      if (forecasting?.hasPageForecasters) {
        this._catchUp();
        forecasting.meter.advance(clock.nowSeconds());
      }
      return this._reconsider(clock.nowSeconds());
    };
    // 5. The request under way is reconsidered.
    const kept = !hasJustBegun && session.active ? guard(reconsider) : undefined;
    // 6. A live stream is paced, on the same input as a request that was kept.
    guard(() => this._neededPacing()?.tick(clock.nowSeconds(), kept));
  };

  /**
   * Requests the segment once more in another representation, or lets the request go on: then returns what the controller
   * was asked on.
   */
  private _reconsider(nowSeconds: number): Moment | undefined {
    const { session, controller, port } = this;
    const { active } = session;
    if (!active?.mayBeReconsidered(nowSeconds) || !(controller.reconsider || active.isRefused)) return undefined;
    this._catchUp();
    const situation = this.situation();
    const inFlight = session.inFlight(nowSeconds);
    // The player has moved on to another period, or no longer loads.
    if (!inFlight || situation?.period.id !== active.segment.period.id) return undefined;
    const moment = { situation, inFlight, input: this.takeInput(situation, inFlight) };
    const { state, forecast } = moment.input;
    const answer = this._attempt(session, () => {
      const refused = active.isRefused && this._insteadOf(active, situation);
      const decision = refused || (controller.reconsider ? controller.reconsider(state, inFlight, forecast) : 'keep');
      const isTheSame =
        decision !== 'keep' && situation.ladder[decision.representation]?.id === active.segment.representation.id;
      if (decision !== 'keep' && !isTheSame) return this._decided(decision, moment);
      active.keepUntil(state.nowSeconds + (controller.keepsForSeconds?.(state, inFlight) || 0));
      return 'keep';
    });
    if (answer === 'keep') return moment;
    if (!answer) return undefined;
    active.isOvertaken = false;
    active.keepUntil(nowSeconds + REPLACED_WITHIN_SECONDS);
    port.abandon(answer);
    return undefined;
  }

  /** The server has refused it: the next lower representation, else the next higher one. */
  private _insteadOf({ segment }: VideoRequest, { ladder }: Situation): Decision | undefined {
    const { id: refused } = segment.representation;
    // With the refused one, whose neighbours are looked for.
    const others = ladder.filter(({ id }) => id === refused || !this.session.origin.isUnanswered(id));
    const i = others.findIndex(({ id }) => id === refused);
    const representation = ladder.indexOf(others[i - 1] || others[i + 1]!);
    if (representation < 0) return undefined;
    return { representation, controller: this.controller.name, reason: 'no answer from the other' };
  }

  private _isTicking(): boolean {
    return this.session.active !== undefined || this._neededPacing() !== undefined;
  }

  private _neededPacing(): Pacing | undefined {
    return this.session.live.isPlaying && this.pacing?.isNeeded() ? this.pacing : undefined;
  }

  /** What the player shows now, as far as the session knows better. */
  situation(): Situation | undefined {
    const { port, session, clock } = this;
    const shown = port.situation(!clock.isRunning);
    const situation = shown && session.origin.withSetUps(withEnd(shown), clock.nowSeconds());
    return situation?.live ? session.live.atEdge(situation) : situation;
  }

  /**
   * Assembles the controller's input, for which the forecasters get all that was observed; the session notes the
   * forecast, and that playback has begun. `inFlight`: the request to reconsider; undefined for the next segment.
   */
  takeInput(situation: Situation, inFlight: InFlight | undefined): Input {
    const { port, session, options, _sizes: sizes, _qualities: qualities } = this;
    if (situation.playback.bufferLevelSeconds > 0) session.started = true;
    // An assumed rate fits only bitrates that the stream declares.
    const isFirst = session.downloads.length === 0 && !situation.ladder.some(({ isEstimated }) => isEstimated);
    const assumed = isFirst ? port.assumed?.(options.host.linkBps()) : undefined;
    const clocks = this.clock.read();
    const state = playerState({ situation, inFlight, session, clocks, assumed, sizes, qualities, options });
    const newest = this.forecasting?.flushAndForecast(state, session);
    // Forecasts from before the link became fast do not count.
    session.forecast = session.isOutdated ? undefined : newest;
    return { state, forecast: session.forecast };
  }

  /** Undefined, too, if the page has ended source or plugin meanwhile, in a forecaster, its controller or a listener. */
  private _attempt<T>(session: Session, action: () => T): T | undefined {
    const result = this.events.attempt('controller-failed', 'the controller failed', action);
    return session === this.session && !this._isStopped ? result : undefined;
  }

  /** Checks and tells a decision: a controller of the page may return anything. */
  private _decided(decision: Decision, { situation, inFlight, input, isUsed }: Basis): Choice | undefined {
    const { period, ladder } = situation;
    const index = (decision as Decision | undefined)?.representation;
    const representationId = ladder[index!]?.id;
    if (representationId === undefined) {
      throw new Error(`expected a representation from 0 to ${ladder.length - 1}, got ${index}`);
    }
    const choice = { representationId, message: `${decision.controller}: ${decision.reason}` };
    if (isUsed && !isUsed(choice)) return undefined;
    this.session.decision = decision;
    this.events.emit('decision', {
      kind: inFlight ? 'abandon' : 'decide',
      session: this.session.number,
      decision,
      ...input,
      inFlight,
      representationId,
      streamId: period.id,
    });
    return choice;
  }

  /** A video request is under way. */
  get isLoading(): boolean {
    return this.session.active !== undefined;
  }

  /** The player has media to show. */
  played(): void {
    this.session.started = true;
  }

  /** The viewer seeks. Returns false before the first picture: the player only seeks to its start position. */
  sought(): boolean {
    return this.session.sought();
  }

  /** An adapter runs all its handlers in this: no error reaches the player, and nothing runs after `stop`. */
  readonly guard: Guard = <T, A>(action: (argument: A) => T, argument?: A) => {
    if (this._isStopped) return undefined;
    // Without `attempt`: this runs for each event of the player.
    try {
      const result = action(argument as A);
      // The page may have detached the plugin meanwhile.
      return this._isStopped ? undefined : result;
    } catch (error) {
      this.events.fault('player-failed', `${this.port.name} is not as expected`, error);
      return undefined;
    }
  };

  /** If the option `cmcd` is on, adds the plugin's keys to the player's CMCD in `headers` and in the URL, which it returns. */
  withCmcd(url: string, headers?: Record<string, string> | null): string {
    const { forecast } = this.session;
    if (!this.options.cmcd || !forecast) return url;
    return this.guard(() => withCmcd(forecast, this.clock.read().utcMs, url, headers)) || url;
  }

  /** Starts the session, unless it has started, with a request that was sent `agoSeconds` ago. */
  start(agoSeconds = 0): void {
    if (!this.clock.isRunning) {
      this.clock.start(agoSeconds);
      this._answers.start();
    }
    this.forecasting?.start(this.clock);
  }

  /** Makes a new controller, for a new session or changed options; the session's measurements stay. */
  renew(): void {
    this.controller = this.options.newController();
    this.session.choice = undefined;
  }

  /** The player has lost its source. */
  sourceEnded(): void {
    this._release();
    this._sizes.forget();
    this.session = new Session(this.session.number + 1, this.options.downloadsKept);
    this.clock.reset();
    this.forecasting?.sourceEnded();
    this.renew();
  }

  /** The plugin is detached. */
  stop(): void {
    this._isStopped = true;
    this._release();
    this.forecasting?.stop();
  }

  private _release(): void {
    this._answers.stop();
    this._requests.clear();
    this._ticker.stop();
    this.pacing?.release();
  }
}

function withEnd(situation: Situation): Situation {
  const { playback } = situation;
  if (playback.bufferCapSeconds <= MOST_BUFFERED_SECONDS) return situation;
  return { ...situation, playback: { ...playback, bufferCapSeconds: MOST_BUFFERED_SECONDS } };
}
