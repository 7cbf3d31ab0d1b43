/** Writes down what a dash.js player and its media element do: events of both become a SessionRecord. */

import type { MediaPlayerClass } from 'dashjs';
import type { DecisionEvent, LeoAbrHandle } from 'leo-abr';
import { PlaybackEnd } from '../replay/browser/page/playback-end.ts';
import { PlaybackMeter } from '../replay/browser/page/playback-meter.ts';
import { type DownloadNote, SessionRecord, type StallNote } from './session-record.ts';

/** What is read of dash.js's request. */
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

/** A stall shorter than this is a hiccup of the clock. */
const SHORTEST_STALL_SECONDS = 0.02;

export interface SessionRecorderOptions {
  player: MediaPlayerClass;
  video: HTMLVideoElement;
  segmentSeconds: number;
  /** Of the plugin; undefined where dash.js decides by itself. */
  handle: LeoAbrHandle | undefined;
}

export class SessionRecorder {
  readonly record = new SessionRecord();
  readonly #options: SessionRecorderOptions;
  readonly #meter: PlaybackMeter;
  readonly #playback: PlaybackEnd;
  readonly #open = new Map<SegmentRequest, DownloadNote>();
  readonly #ending = new AbortController();
  #zeroMs: number | undefined;
  /** Why dash.js changed the quality last, until the next request. */
  #dashReason: string | undefined;

  constructor(options: SessionRecorderOptions) {
    this.#options = options;
    const { player, video, handle } = options;
    this.#meter = new PlaybackMeter(video);
    this.#playback = new PlaybackEnd(video);
    const on = <E>(type: string, listener: (event: E) => void) =>
      // dash.js's types know the names of some events only.
      (player as unknown as { on(type: string, listener: (event: E) => void): void }).on(type, (event: E) => {
        if (!this.#ending.signal.aborted) listener(event);
      });
    on<{ request: SegmentRequest }>('fragmentLoadingStarted', ({ request }) => this.#requested(request));
    on<{ request: SegmentRequest }>('loadingProgress', ({ request }) => this.#progressed(request));
    on<{ request: SegmentRequest; error?: unknown }>('fragmentLoadingCompleted', ({ request, error }) =>
      this.#ended(request, error ? 'failed' : 'complete'),
    );
    on<{ request: SegmentRequest }>('fragmentLoadingAbandoned', ({ request }) => this.#ended(request, 'abandoned'));
    if (handle !== undefined) handle.on('decision', (event) => this.#decided(event));
    else {
      on<QualityChange>('qualityChangeRequested', ({ mediaType, reason }) => {
        if (mediaType === 'video') this.#dashReason = dashReason(reason);
      });
    }
    const { signal } = this.#ending;
    for (const type of ['timeupdate', 'playing']) video.addEventListener(type, () => this.sample(), { signal });
    video.addEventListener('waiting', () => this.#meter.onWaiting(this.nowSeconds), { signal });
    video.addEventListener('ended', () => this.sample(), { signal });
  }

  /** Seconds since the first media request; 0 before. */
  get nowSeconds(): number {
    return this.#zeroMs === undefined ? 0 : (performance.now() - this.#zeroMs) / 1000;
  }

  /** Brings the record up to now; to be called some times a second. */
  sample(): void {
    if (this.#ending.signal.aborted) return;
    const { record } = this;
    const { video, segmentSeconds } = this.#options;
    const now = this.nowSeconds;
    this.#meter.sample(now);
    record.nowSeconds = now;
    record.startupSeconds = this.#meter.startedAtSeconds;
    record.stalls = this.#stalls(now);
    if (record.startupSeconds !== undefined) {
      const shown = Math.floor(video.currentTime / segmentSeconds + 1e-6);
      record.shownSegments = shown + 1;
      record.shownBitrateBps = record.segments[shown]?.bitrateBps ?? record.shownBitrateBps;
    }
    if (this.#zeroMs !== undefined) record.bufferSamples.push({ atSeconds: now, levelSeconds: bufferedAhead(video) });
    if (record.endedBy !== undefined || !this.#playback.isOver(now)) return;
    record.endedBy = 'end';
    this.#ending.abort();
    // For an element that nobody ends.
    video.pause();
  }

  /** Ends the record; what comes later is not part of the session. */
  stop(): void {
    this.sample();
    this.#ending.abort();
  }

  #requested(request: SegmentRequest): void {
    if (request.type !== 'MediaSegment' || request.mediaType !== 'video' || request.representation === null) return;
    this.#zeroMs ??= performance.now();
    const { video, handle } = this.#options;
    const bitrateBps = request.representation.bandwidth;
    const bufferLevelSeconds = bufferedAhead(video);
    const previousBitrateBps = this.record.downloads.at(-1)?.bitrateBps;
    const atSeconds = this.nowSeconds;
    const note = this.record.requested({
      segmentIndex: request.index,
      bitrateBps,
      requestedAtSeconds: atSeconds,
      bufferLevelSeconds,
    });
    this.#open.set(request, note);
    if (handle !== undefined) return;
    const reason = this.#dashReason ?? 'dash.js changes nothing';
    this.#dashReason = undefined;
    const { segmentIndex } = note;
    const kind = this.record.decisions.at(-1)?.segmentIndex === segmentIndex ? 'abandon' : 'decide';
    this.record.decisions.push({
      atSeconds,
      kind,
      segmentIndex,
      bitrateBps,
      previousBitrateBps,
      bufferLevelSeconds,
      reason,
    });
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
    const { representation, reason, ...rest } = decision;
    this.record.decisions.push({
      atSeconds: state.nowSeconds,
      kind,
      segmentIndex: state.segmentIndex,
      bitrateBps: state.ladderBps[representation]!,
      previousBitrateBps: this.record.downloads.at(-1)?.bitrateBps,
      bufferLevelSeconds: state.bufferLevelSeconds,
      reason,
      plannedThroughputBps: rest.plannedThroughputBps,
      candidates: rest.candidates,
      forecast,
      forecastAgeSeconds: rest.forecastAgeSeconds,
      handoverInHorizon: rest.handoverInHorizon,
    });
  }

  #stalls(now: number): StallNote[] {
    const { segmentSeconds, video } = this.#options;
    // The element stalls a little before its data ends.
    const segmentAt = (mediaSeconds: number) => Math.floor((mediaSeconds + segmentSeconds / 4) / segmentSeconds);
    const stalls: StallNote[] = this.#meter.stalls.map(({ startSeconds, endSeconds, mediaSeconds }) => ({
      startSeconds,
      endSeconds,
      segmentIndex: segmentAt(mediaSeconds),
    }));
    const closed = stalls.reduce((sum, stall) => sum + stall.endSeconds! - stall.startSeconds, 0);
    const { startedAtSeconds } = this.#meter;
    const open = startedAtSeconds === undefined ? 0 : this.#meter.waitedSeconds(now) - startedAtSeconds - closed;
    if (open > SHORTEST_STALL_SECONDS && !this.#playback.isReached) {
      stalls.push({ startSeconds: now - open, endSeconds: undefined, segmentIndex: segmentAt(video.currentTime) });
    }
    return stalls;
  }
}

/** Seconds of media ahead of the playhead. */
function bufferedAhead({ buffered, currentTime }: HTMLMediaElement): number {
  for (let i = 0; i < buffered.length; i++) {
    const end = buffered.end(i);
    if (end > currentTime) return end - Math.max(currentTime, buffered.start(i));
  }
  return 0;
}

/** dash.js's rules give their reasons as objects of numbers, some with a message. */
function dashReason(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return String(reason ?? 'no reason given');
  const { message, ...rest } = reason as { message?: unknown };
  if (typeof message === 'string') return message;
  return Object.entries(rest)
    .filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`)
    .join(', ');
}
