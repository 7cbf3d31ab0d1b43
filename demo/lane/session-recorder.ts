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
  readonly #video: HTMLVideoElement;
  readonly #scenario: Scenario;
  readonly #meter: PlaybackMeter;
  readonly #playback: PlaybackEnd;
  readonly #ending = new AbortController();
  /** Second 0 of the plugin on the session's clock. */
  #firstRequestSeconds: number | undefined;
  #handle: LeoAbrHandle | undefined;

  constructor(video: HTMLVideoElement, scenario: Scenario) {
    super(video, scenario.ladderBps);
    this.#video = video;
    this.#scenario = scenario;
    this.#playback = new PlaybackEnd(video);
    const { signal } = this.#ending;
    this.#meter = meterOf(video, () => this.nowSeconds, signal);
    for (const type of ['timeupdate', 'playing', 'ended'])
      video.addEventListener(type, () => this.sample(), { signal });
  }

  /** Records the plugin's decisions. Without this call, the player's own ABR decides. */
  listen(handle: LeoAbrHandle, { representationId = (id) => id }: Pick<TestPlayer, 'representationId'>): void {
    this.#handle = handle;
    handle.on('decision', (event) => {
      if (!this.isOver) this.#decided(event, this.bitrateOf(representationId(event.representationId)));
    });
    handle.on('pace', ({ pace: { reason }, playbackRate, state, forecast }) => {
      if (this.isOver) return;
      this.record.paces.push({ atSeconds: this.#secondsOf(state), playbackRate, reason });
      this.#announce(forecast, state);
    });
  }

  /** Whether the session has ended or was stopped. Later events are ignored. */
  get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Updates the record. Call it several times a second. */
  sample(): void {
    if (this.isOver) return;
    this.count();
    const { record } = this;
    const video = this.#video;
    const { segmentSeconds, live } = this.#scenario;
    const now = this.nowSeconds;
    this.#meter.sample(now);
    record.nowSeconds = now;
    record.startupSeconds = this.#meter.startedAtSeconds;
    record.stalls = this.#stalls(now);
    record.positions = this.#meter.positions;
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
    const isOver = live ? now >= sessionSecondsOf(this.#scenario) : this.#playback.isOver(now);
    if (!isOver) return;
    record.hasEnded = true;
    this.#ending.abort();
    // dash.js may never end the media element: see PlaybackEnd.
    video.pause();
  }

  stop(): void {
    this.sample();
    this.#ending.abort();
  }

  override started(request: object, segment: RequestedSegment): void {
    if (this.isOver) return;
    const { decisions, downloads } = this.record;
    const previousBitrateBps = downloads.at(-1)?.bitrateBps;
    super.started(request, segment);
    const { index: segmentIndex, bitrateBps, bufferLevelSeconds, requestedAtSeconds: atSeconds } = downloads.at(-1)!;
    this.#firstRequestSeconds ??= atSeconds;
    if (this.#handle !== undefined) return;
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

  #decided({ kind, decision, state, forecast }: DecisionEvent, bitrateBps: number): void {
    const { representation, ...rest } = decision;
    const atSeconds = this.#secondsOf(state);
    const zeroSeconds = atSeconds - state.nowSeconds;
    this.#announce(forecast, state);
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

  #announce(forecast: Forecast | undefined, state: DecisionEvent['state']): void {
    expectHandover(this.record.handovers, forecast, { ...state, nowSeconds: this.#secondsOf(state) });
  }

  #secondsOf({ nowSeconds }: DecisionEvent['state']): number {
    return (this.#firstRequestSeconds ?? this.nowSeconds) + nowSeconds;
  }

  #stalls(now: number): readonly StallNote[] {
    const { stalls, startedAtSeconds } = this.#meter;
    if (startedAtSeconds === undefined) return stalls;
    const open = this.#meter.waitedSeconds(now) - startedAtSeconds - totalSeconds(stalls);
    if (open < UNSEEN_SECONDS || this.#playback.isReached) return stalls;
    const { currentTime: mediaSeconds } = this.#video;
    return [...stalls, { startSeconds: now - open, endSeconds: undefined, mediaSeconds }];
  }
}
