/** Turns the requests of a player, the events of its media element and of the plugin into a SessionRecord. */

import type { DecisionEvent, LeoAbrHandle } from 'leo-abr';
import { PlaybackEnd } from '../replay/browser/page/playback-end.ts';
import { PlaybackMeter } from '../replay/browser/page/playback-meter.ts';
import { bufferedAhead, type RequestedSegment } from '../replay/browser/page/request-recorder.ts';
import type { PlayerContext, TestPlayer } from '../replay/browser/page/test-player.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { sessionSecondsOf } from './run.ts';
import { type DownloadNote, SessionRecord, type StallNote, totalSeconds } from './session-record.ts';

/** Shorter stalls are jitter of the clock. */
const SHORTEST_STALL_SECONDS = 0.02;

type Requests = PlayerContext['requests'];

interface OpenDownload {
  note: DownloadNote;
  loadedBytes: RequestedSegment['loadedBytes'];
}

export class SessionRecorder implements Requests {
  readonly record = new SessionRecord();
  readonly #video: HTMLVideoElement;
  readonly #scenario: Scenario;
  readonly #meter: PlaybackMeter;
  readonly #playback: PlaybackEnd;
  readonly #open = new Map<object, OpenDownload>();
  readonly #ending = new AbortController();
  #zeroMs: number | undefined;
  /** The plugin's second 0 on the session's clock. */
  #firstRequestSeconds: number | undefined;
  #handle: LeoAbrHandle | undefined;

  constructor(video: HTMLVideoElement, scenario: Scenario) {
    this.#video = video;
    this.#scenario = scenario;
    this.#meter = new PlaybackMeter(video);
    this.#playback = new PlaybackEnd(video);
    const { signal } = this.#ending;
    for (const type of ['timeupdate', 'playing', 'ended'])
      video.addEventListener(type, () => this.sample(), { signal });
    video.addEventListener('waiting', () => this.#meter.onWaiting(this.nowSeconds), { signal });
    // Shaka Player lets a stalled element wait at rate 0.
    const onRate = () => video.playbackRate === 0 && this.#meter.onWaiting(this.nowSeconds);
    video.addEventListener('ratechange', onRate, { signal });
  }

  /** Records the plugin's decisions. Otherwise the player's own ABR decides. */
  listen(handle: LeoAbrHandle, { representationId = (id) => id }: Pick<TestPlayer, 'representationId'>): void {
    this.#handle = handle;
    handle.on('decision', (event) => {
      if (!this.isOver) this.#decided(event, this.#bitrateOf(representationId(event.representationId)));
    });
    handle.on('pace', ({ pace: { reason }, playbackRate, state }) => {
      if (!this.isOver) this.record.paces.push({ atSeconds: this.#secondsOf(state), playbackRate, reason });
    });
  }

  /** Ended or stopped: later events are ignored. */
  get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts the clock, unless it runs; the first request does, too. */
  start(): void {
    this.#zeroMs ??= performance.now();
  }

  /** On the clock of the record; 0 before it starts. */
  get nowSeconds(): number {
    return this.#zeroMs === undefined ? 0 : (performance.now() - this.#zeroMs) / 1000;
  }

  /** Updates the record; call it several times a second. */
  sample(): void {
    if (this.isOver) return;
    for (const open of this.#open.values()) count(open);
    const { record } = this;
    const video = this.#video;
    const { segmentSeconds, live } = this.#scenario;
    const now = this.nowSeconds;
    this.#meter.sample(now);
    record.nowSeconds = now;
    record.startupSeconds = this.#meter.startedAtSeconds;
    record.stalls = this.#stalls(now);
    record.jumps = this.#meter.jumps;
    record.positions = this.#meter.positions;
    if (record.startupSeconds !== undefined) {
      const index = Math.floor(video.currentTime / segmentSeconds + 1e-6);
      // A live segment is on screen before it is complete.
      const shown = record.downloads.filter(
        ({ segmentIndex, outcome }) =>
          segmentIndex <= index && (outcome === 'complete' || (live !== undefined && outcome === 'active')),
      );
      record.shownSegments = new Set(shown.map(({ segmentIndex }) => segmentIndex)).size;
      record.shownBitrateBps = shown.at(-1)?.bitrateBps;
    }
    if (this.#zeroMs !== undefined) {
      record.samples.push({
        atSeconds: now,
        bufferSeconds: bufferedAhead(video),
        ...(live &&
          record.startupSeconds !== undefined && {
            latencySeconds: live.timeShiftSeconds + now - video.currentTime,
            ...(video.playbackRate > 0 && { playbackRate: video.playbackRate }),
          }),
      });
    }
    const isOver = live ? now >= sessionSecondsOf(this.#scenario) : this.#playback.isOver(now);
    if (record.endedBy !== undefined || !isOver) return;
    record.endedBy = 'end';
    this.#ending.abort();
    // dash.js may never end the element: see PlaybackEnd.
    video.pause();
  }

  /** Ends the record: later events are ignored. */
  stop(): void {
    this.sample();
    this.#ending.abort();
  }

  started(request: object, { index, representationId, loadedBytes, ownReason }: RequestedSegment): void {
    if (this.isOver) return;
    this.start();
    this.#firstRequestSeconds ??= this.nowSeconds;
    const { decisions, downloads } = this.record;
    const previousBitrateBps = downloads.at(-1)?.bitrateBps;
    const atSeconds = this.nowSeconds;
    const segment = {
      segmentIndex: index,
      bitrateBps: this.#bitrateOf(representationId),
      bufferLevelSeconds: bufferedAhead(this.#video),
    };
    const note = this.record.requested({ ...segment, requestedAtSeconds: atSeconds });
    this.#open.set(request, { note, loadedBytes });
    if (this.#handle !== undefined) return;
    const kind = decisions.at(-1)?.segmentIndex === index ? 'abandon' : 'decide';
    decisions.push({ ...segment, atSeconds, kind, previousBitrateBps, reason: ownReason() });
  }

  received(request: object, bytes: number): void {
    const open = this.#open.get(request);
    if (open !== undefined && !this.isOver) open.note.receivedBits += bytes * 8;
  }

  /** The link of the session is known without the responses' headers. */
  responded(): void {}

  ended(request: object, outcome: DownloadNote['outcome'], bytes?: number): void {
    const open = this.#open.get(request);
    if (open === undefined || this.isOver) return;
    this.#open.delete(request);
    const { note } = open;
    count(open);
    if (bytes !== undefined) note.receivedBits = bytes * 8;
    note.endedAtSeconds = this.nowSeconds;
    note.outcome = outcome;
  }

  /** Of `video-<n>`. */
  #bitrateOf(representationId: string): number {
    return this.#scenario.ladderBps[Number(representationId.replace('video-', ''))]!;
  }

  #decided({ kind, decision, state, forecast }: DecisionEvent, bitrateBps: number): void {
    const { representation, candidates, ...rest } = decision;
    const { ladderBps } = this.#scenario;
    const atSeconds = this.#secondsOf(state);
    const zeroSeconds = atSeconds - state.nowSeconds;
    this.record.decisions.push({
      ...rest,
      atSeconds,
      kind,
      segmentIndex: state.segmentIndex,
      bitrateBps,
      // hls.js names mean bitrates, and a player may leave out a representation.
      ...(candidates && {
        candidates: candidates.map((one) => ({ ...one, bitrateBps: closest(ladderBps, one.bitrateBps) })),
      }),
      previousBitrateBps: this.record.downloads.at(-1)?.bitrateBps,
      bufferLevelSeconds: state.bufferLevelSeconds,
      forecast: forecast && { ...forecast, issuedAtMs: forecast.issuedAtMs + zeroSeconds * 1000 },
    });
  }

  /** Of a state of the plugin, on the session's clock. */
  #secondsOf({ nowSeconds }: DecisionEvent['state']): number {
    return (this.#firstRequestSeconds ?? this.nowSeconds) + nowSeconds;
  }

  /** With the one that goes on. */
  #stalls(now: number): readonly StallNote[] {
    const { stalls, startedAtSeconds } = this.#meter;
    if (startedAtSeconds === undefined) return stalls;
    const open = this.#meter.waitedSeconds(now) - startedAtSeconds - totalSeconds(stalls, now);
    if (open < SHORTEST_STALL_SECONDS || this.#playback.isReached) return stalls;
    const { currentTime: mediaSeconds } = this.#video;
    return [...stalls, { startSeconds: now - open, endSeconds: undefined, mediaSeconds }];
  }
}

/** Reads the bytes so far. Low-latency players report theirs through `received` instead. */
function count({ note, loadedBytes }: OpenDownload): void {
  note.receivedBits = Math.max(note.receivedBits, (loadedBytes?.() ?? 0) * 8);
}

function closest(ladderBps: readonly number[], bps: number): number {
  return ladderBps.reduce((best, one) => (Math.abs(one - bps) < Math.abs(best - bps) ? one : best));
}
