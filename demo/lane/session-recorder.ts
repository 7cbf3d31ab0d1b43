/** Records the requests of a player, and the events of its media element and of the plugin, in a SessionRecord. */

import type { DecisionEvent, Forecast, LeoAbrHandle } from 'leo-abr';
import { UNSEEN_SECONDS } from '../../abr/qoe/qoe.ts';
import { PlaybackEnd } from '../../replay/browser/page/playback-end.ts';
import { meterOf, type PlaybackMeter } from '../../replay/browser/page/playback-meter.ts';
import { bufferedAhead, type RequestedSegment, RequestRecorder } from '../../replay/browser/page/request-recorder.ts';
import type { TestPlayer } from '../../replay/browser/page/test-player.ts';
import { totalSeconds } from '../../replay/browser/record/segment-rows.ts';
import type { RequestRecord } from '../../replay/browser/record/session-record.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { expectHandover } from '../run/handovers.ts';
import { sessionSecondsOf } from '../run/run.ts';
import { SessionRecord, type StallNote } from '../run/session-record.ts';

export class SessionRecorder extends RequestRecorder {
  readonly record = new SessionRecord(this.requests);
  private readonly _video: HTMLVideoElement;
  private readonly _scenario: Scenario;
  private readonly _meter: PlaybackMeter;
  private readonly _playback: PlaybackEnd;
  private readonly _ending = new AbortController();
  /** Second 0 of the plugin on the session's clock. */
  private _firstRequestSeconds: number | undefined;
  private _handle: LeoAbrHandle | undefined;

  /** `onClock` starts the clocks of the other players on the link. */
  constructor(
    video: HTMLVideoElement,
    scenario: Scenario,
    private readonly _onClock: (zeroMs: number) => void,
  ) {
    super(video, scenario.ladderBps);
    this._video = video;
    this._scenario = scenario;
    this._playback = new PlaybackEnd(video);
    const { signal } = this._ending;
    this._meter = meterOf(video, () => this.nowSeconds, signal);
    for (const type of ['timeupdate', 'playing', 'ended'])
      video.addEventListener(type, () => this.sample(), { signal });
  }

  /** Records the plugin's decisions. Without this call, the player's own ABR decides. */
  listen(handle: LeoAbrHandle, { representationId = (id) => id }: Pick<TestPlayer, 'representationId'>): void {
    this._handle = handle;
    handle.on('decision', (event) => {
      if (!this.isOver) this._decided(event, this.bitrateOf(representationId(event.representationId)));
    });
    handle.on('pace', ({ pace: { reason }, playbackRate, state, forecast }) => {
      if (this.isOver) return;
      this.record.paces.push({ atSeconds: this._secondsOf(state), playbackRate, reason });
      this._announce(forecast, state);
    });
  }

  /** Whether the session has ended or was stopped. Later events are ignored. */
  get isOver(): boolean {
    return this._ending.signal.aborted;
  }

  /** Updates the record. Call it several times a second. */
  sample(): void {
    if (this.isOver) return;
    this.count();
    const { record } = this;
    const video = this._video;
    const { segmentSeconds, live } = this._scenario;
    const now = this.nowSeconds;
    this._meter.sample(now);
    record.nowSeconds = now;
    record.startupSeconds = this._meter.startedAtSeconds;
    record.stalls = this._stalls(now);
    record.positions = this._meter.positions;
    if (record.startupSeconds !== undefined) {
      const index = Math.floor(video.currentTime / segmentSeconds + 1e-6);
      // A live segment may be on the screen before it is complete.
      const shown = record.downloads.filter(
        (one) => one.index <= index && (one.outcome === 'complete' || (live !== undefined && one.outcome === 'active')),
      );
      record.shownSegments = new Set(shown.map((one) => one.index)).size;
      record.shownBitrateBps = shown.at(-1)?.bitrateBps;
    }
    if (this.isRunning) {
      const hasLatency = live && record.startupSeconds !== undefined;
      const latencySeconds = hasLatency ? live.timeShiftSeconds + now - video.currentTime : undefined;
      record.samples.push({
        atSeconds: now,
        bufferSeconds: bufferedAhead(video),
        shownBitrateBps: record.shownBitrateBps,
        ...(latencySeconds !== undefined && { latencySeconds }),
      });
    }
    const isOver = live ? now >= sessionSecondsOf(this._scenario) : this._playback.isOver(now);
    if (!isOver) return;
    record.hasEnded = true;
    this._ending.abort();
    // dash.js may never end the media element: see PlaybackEnd.
    video.pause();
  }

  override startClock(zeroMs = performance.now()): void {
    if (this.isRunning) return;
    super.startClock(zeroMs);
    this._onClock(zeroMs);
  }

  stop(): void {
    this.sample();
    this._ending.abort();
  }

  override started(request: object, segment: RequestedSegment): void {
    if (this.isOver) return;
    const { decisions, downloads } = this.record;
    const previousBitrateBps = downloads.at(-1)?.bitrateBps;
    super.started(request, segment);
    const { index: segmentIndex, bitrateBps, bufferLevelSeconds, requestedAtSeconds: atSeconds } = downloads.at(-1)!;
    this._firstRequestSeconds ??= atSeconds;
    if (this._handle !== undefined) return;
    const kind = decisions.at(-1)?.segmentIndex === segmentIndex ? 'abandon' : 'decide';
    const reason = segment.ownReason();
    decisions.push({ segmentIndex, bitrateBps, bufferLevelSeconds, atSeconds, kind, previousBitrateBps, reason });
  }

  override received(request: object, bytes: number): void {
    if (!this.isOver) super.received(request, bytes);
  }

  override ended(request: object, outcome: RequestRecord['outcome'], bytes?: number): void {
    if (!this.isOver) super.ended(request, outcome, bytes);
  }

  private _decided({ kind, decision, state, forecast }: DecisionEvent, bitrateBps: number): void {
    const { representation, ...rest } = decision;
    const atSeconds = this._secondsOf(state);
    const zeroSeconds = atSeconds - state.nowSeconds;
    this._announce(forecast, state);
    this.record.decisions.push({
      ...rest,
      atSeconds,
      kind,
      segmentIndex: state.segmentIndex,
      bitrateBps,
      previousBitrateBps: this.record.downloads.at(-1)?.bitrateBps,
      bufferLevelSeconds: state.bufferLevelSeconds,
      forecast: forecast && { ...forecast, issuedAtMs: forecast.issuedAtMs + zeroSeconds * 1000 },
    });
  }

  private _announce(forecast: Forecast | undefined, state: DecisionEvent['state']): void {
    expectHandover(this.record.handovers, forecast, { ...state, nowSeconds: this._secondsOf(state) });
  }

  private _secondsOf({ nowSeconds }: DecisionEvent['state']): number {
    return (this._firstRequestSeconds ?? this.nowSeconds) + nowSeconds;
  }

  private _stalls(now: number): readonly StallNote[] {
    const { stalls, startedAtSeconds } = this._meter;
    if (startedAtSeconds === undefined) return stalls;
    const open = this._meter.waitedSeconds(now) - startedAtSeconds - totalSeconds(stalls);
    if (open < UNSEEN_SECONDS || this._playback.isReached) return stalls;
    const { currentTime: mediaSeconds } = this._video;
    return [...stalls, { startSeconds: now - open, endSeconds: undefined, mediaSeconds }];
  }
}
