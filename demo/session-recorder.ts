/** Turns the events of a dash.js player, its media element and the plugin into a SessionRecord. */

import type { MediaPlayerClass } from 'dashjs';
import type { DecisionEvent, LeoAbrHandle } from 'leo-abr';
import { PlaybackEnd } from '../replay/browser/page/playback-end.ts';
import { PlaybackMeter } from '../replay/browser/page/playback-meter.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { sessionSecondsOf } from './run.ts';
import { type DownloadNote, SessionRecord, type StallNote } from './session-record.ts';

/** The part of dash.js's FragmentRequest that is read here. */
interface SegmentRequest {
  type: string;
  mediaType: string;
  index: number;
  bytesLoaded: number;
  representation: { bandwidth: number } | null;
}

interface QualityChange {
  mediaType: string;
  reason: unknown;
}

/** Shorter stalls are jitter of the clock. */
const SHORTEST_STALL_SECONDS = 0.02;

export interface SessionRecorderOptions {
  player: MediaPlayerClass;
  video: HTMLVideoElement;
  scenario: Scenario;
  /** The plugin's handle; undefined if dash.js decides by itself. */
  handle: LeoAbrHandle | undefined;
}

/** Listens to any event of dash.js, whose types know only some names. */
export function onPlayerEvent<E>(player: MediaPlayerClass, type: string, listener: (event: E) => void): void {
  (player as unknown as { on(type: string, listener: (event: E) => void): void }).on(type, listener);
}

export class SessionRecorder {
  readonly record = new SessionRecord();
  readonly #options: SessionRecorderOptions;
  readonly #meter: PlaybackMeter;
  readonly #playback: PlaybackEnd;
  readonly #open = new Map<SegmentRequest, DownloadNote>();
  readonly #ending = new AbortController();
  #zeroMs: number | undefined;
  /** The plugin's second 0 on the session's clock. */
  #firstRequestSeconds: number | undefined;
  /** dash.js's reason for the last change of quality; undefined after the next request. */
  #dashReason: string | undefined;

  constructor(options: SessionRecorderOptions) {
    this.#options = options;
    const { player, video, handle, scenario } = options;
    this.#meter = new PlaybackMeter(video);
    this.#playback = new PlaybackEnd(video);
    const on = <E>(type: string, listener: (event: E) => void) =>
      onPlayerEvent<E>(player, type, (event) => {
        if (!this.#ending.signal.aborted) listener(event);
      });
    // The request for the manifest starts the origin's clock of a live session.
    if (scenario.live) on('manifestLoadingStarted', () => this.#start());
    on<{ request: SegmentRequest }>('fragmentLoadingStarted', ({ request }) => this.#requested(request));
    on<{ request: SegmentRequest }>('loadingProgress', ({ request }) => this.#progressed(request));
    // In low-latency mode: the part of the body that arrived since the last event.
    on<{ request: SegmentRequest; response: ArrayBuffer }>('loadingDataProgress', ({ request, response }) => {
      const note = this.#open.get(request);
      if (note !== undefined) note.receivedBits += response.byteLength * 8;
    });
    on<{ request: SegmentRequest; error?: unknown }>('fragmentLoadingCompleted', ({ request, error }) =>
      this.#ended(request, error ? 'failed' : 'complete'),
    );
    on<{ request: SegmentRequest }>('fragmentLoadingAbandoned', ({ request }) => this.#ended(request, 'abandoned'));
    if (handle !== undefined) {
      handle.on('decision', (event) => this.#decided(event));
      handle.on('pace', ({ pace: { reason }, playbackRate, state }) =>
        this.record.paces.push({ atSeconds: this.#secondsOf(state), playbackRate, reason }),
      );
    } else {
      on<QualityChange>('qualityChangeRequested', ({ mediaType, reason }) => {
        if (mediaType === 'video') this.#dashReason = dashReason(reason);
      });
    }
    const { signal } = this.#ending;
    for (const type of ['timeupdate', 'playing', 'ended'])
      video.addEventListener(type, () => this.sample(), { signal });
    video.addEventListener('waiting', () => this.#meter.onWaiting(this.nowSeconds), { signal });
  }

  /** On the clock of the record; 0 before it starts. */
  get nowSeconds(): number {
    return this.#zeroMs === undefined ? 0 : (performance.now() - this.#zeroMs) / 1000;
  }

  /** Updates the record; call it several times a second. */
  sample(): void {
    if (this.#ending.signal.aborted) return;
    const { record } = this;
    const { video, scenario } = this.#options;
    const { segmentSeconds, live } = scenario;
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
      record.shownSegments = shown.length;
      record.shownBitrateBps = shown.at(-1)?.bitrateBps;
    }
    if (this.#zeroMs !== undefined) {
      record.samples.push({
        atSeconds: now,
        bufferSeconds: bufferedAhead(video),
        ...(live &&
          record.startupSeconds !== undefined && {
            latencySeconds: live.timeShiftSeconds + now - video.currentTime,
            playbackRate: video.playbackRate,
          }),
      });
    }
    const isOver = live ? now >= sessionSecondsOf(scenario) : this.#playback.isOver(now);
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

  #start(): void {
    this.#zeroMs ??= performance.now();
  }

  #requested(request: SegmentRequest): void {
    if (request.type !== 'MediaSegment' || request.mediaType !== 'video' || request.representation === null) return;
    this.#start();
    this.#firstRequestSeconds ??= this.nowSeconds;
    const { video, handle } = this.#options;
    const { decisions, downloads } = this.record;
    const previousBitrateBps = downloads.at(-1)?.bitrateBps;
    const atSeconds = this.nowSeconds;
    const segment = {
      segmentIndex: request.index,
      bitrateBps: request.representation.bandwidth,
      bufferLevelSeconds: bufferedAhead(video),
    };
    this.#open.set(request, this.record.requested({ ...segment, requestedAtSeconds: atSeconds }));
    if (handle !== undefined) return;
    const reason = this.#dashReason ?? 'dash.js changes nothing';
    this.#dashReason = undefined;
    const kind = decisions.at(-1)?.segmentIndex === request.index ? 'abandon' : 'decide';
    decisions.push({ ...segment, atSeconds, kind, previousBitrateBps, reason });
  }

  #progressed(request: SegmentRequest): void {
    const note = this.#open.get(request);
    if (note !== undefined && request.bytesLoaded > 0) note.receivedBits = request.bytesLoaded * 8;
  }

  #ended(request: SegmentRequest, outcome: DownloadNote['outcome']): void {
    const note = this.#open.get(request);
    if (note === undefined) return;
    this.#open.delete(request);
    if (request.bytesLoaded > 0) note.receivedBits = request.bytesLoaded * 8;
    note.endedAtSeconds = this.nowSeconds;
    note.outcome = outcome;
  }

  #decided({ kind, decision, state, forecast }: DecisionEvent): void {
    const { representation, ...rest } = decision;
    const atSeconds = this.#secondsOf(state);
    const zeroSeconds = atSeconds - state.nowSeconds;
    this.record.decisions.push({
      ...rest,
      atSeconds,
      kind,
      segmentIndex: state.segmentIndex,
      bitrateBps: state.ladderBps[representation]!,
      previousBitrateBps: this.record.downloads.at(-1)?.bitrateBps,
      bufferLevelSeconds: state.bufferLevelSeconds,
      forecast: forecast && { ...forecast, issuedAtMs: forecast.issuedAtMs + zeroSeconds * 1000 },
    });
  }

  /** Of a state of the plugin, on the session's clock. */
  #secondsOf({ nowSeconds }: DecisionEvent['state']): number {
    return (this.#firstRequestSeconds ?? this.nowSeconds) + nowSeconds;
  }

  #stalls(now: number): StallNote[] {
    const { scenario, video } = this.#options;
    const { segmentSeconds } = scenario;
    // The element stalls shortly before its data ends.
    const segmentAt = (mediaSeconds: number) => Math.floor((mediaSeconds + segmentSeconds / 4) / segmentSeconds);
    const stalls: StallNote[] = this.#meter.stalls.map(({ startSeconds, endSeconds, mediaSeconds }) => ({
      startSeconds,
      endSeconds,
      mediaSeconds,
      segmentIndex: segmentAt(mediaSeconds),
    }));
    const closed = stalls.reduce((sum, stall) => sum + stall.endSeconds! - stall.startSeconds, 0);
    const { startedAtSeconds } = this.#meter;
    const open = startedAtSeconds === undefined ? 0 : this.#meter.waitedSeconds(now) - startedAtSeconds - closed;
    if (open > SHORTEST_STALL_SECONDS && !this.#playback.isReached) {
      const { currentTime: mediaSeconds } = video;
      const segmentIndex = segmentAt(mediaSeconds);
      stalls.push({ startSeconds: now - open, endSeconds: undefined, mediaSeconds, segmentIndex });
    }
    return stalls;
  }
}

/** Buffer level in seconds. */
function bufferedAhead({ buffered, currentTime }: HTMLMediaElement): number {
  for (let i = 0; i < buffered.length; i++) {
    const end = buffered.end(i);
    if (end > currentTime) return end - Math.max(currentTime, buffered.start(i));
  }
  return 0;
}

/** dash.js's rules give reasons as objects of numbers, some with a message. */
function dashReason(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return String(reason ?? 'no reason given');
  const { message, ...rest } = reason as { message?: unknown };
  if (typeof message === 'string') return message;
  return Object.entries(rest)
    .filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`)
    .join(', ');
}
