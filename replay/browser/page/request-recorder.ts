/** Records dash.js's requests for video segments. The first one starts the session's clock, unless it runs. */

import type { MediaPlayerClass } from 'dashjs';
import type { RequestRecord } from '../session-record.ts';

/** The used fields of dash.js's request. */
interface SegmentRequest {
  type: string;
  mediaType: string;
  index: number;
  bandwidth: number;
  /** Not a number while low-latency media is loaded. */
  bytesLoaded: number;
  representation: { id: string; bandwidth: number } | null;
}

interface RequestEvent {
  request: SegmentRequest;
  /** Of low-latency media: the chunks since the last event. */
  response?: ArrayBuffer;
  error?: unknown;
}

type OpenRequest = Omit<RequestRecord, 'endedAtSeconds' | 'outcome'>;

export class RequestRecorder {
  readonly requests: RequestRecord[] = [];
  private readonly open = new Map<SegmentRequest, OpenRequest>();
  private zeroMs: number | undefined;

  constructor(
    player: MediaPlayerClass,
    private readonly element: HTMLMediaElement,
  ) {
    const on = (type: string, listener: (event: RequestEvent) => void) =>
      // dash.js's types list only some of the events.
      (player as unknown as { on(type: string, listener: object): void }).on(type, listener);
    on('fragmentLoadingStarted', ({ request }) => this.started(request));
    on('loadingDataProgress', ({ request, response }) => this.received(request, response?.byteLength ?? 0));
    on('fragmentLoadingCompleted', ({ request, error }) => this.ended(request, error ? 'failed' : 'complete'));
    on('fragmentLoadingAbandoned', ({ request }) => this.ended(request, 'abandoned'));
  }

  /** Seconds since the clock's start; 0 before. */
  get nowSeconds(): number {
    return this.zeroMs === undefined ? 0 : (performance.now() - this.zeroMs) / 1000;
  }

  /** Starts the clock: it was 0 at this time of `performance.now()`. */
  startClock(zeroMs: number): void {
    this.zeroMs = zeroMs;
  }

  /** Ends the session; active requests are recorded as abandoned. */
  end(): void {
    for (const request of [...this.open.keys()]) this.ended(request, 'abandoned');
  }

  private started(request: SegmentRequest): void {
    if (request.type !== 'MediaSegment' || request.mediaType !== 'video' || request.representation === null) return;
    const nowMs = performance.now();
    this.zeroMs ??= nowMs;
    this.open.set(request, {
      index: request.index,
      representationId: request.representation.id,
      bitrateBps: request.representation.bandwidth,
      requestedAtSeconds: (nowMs - this.zeroMs) / 1000,
      bufferLevelSeconds: bufferedAhead(this.element),
      receivedBits: 0,
    });
  }

  private received(request: SegmentRequest, bytes: number): void {
    const open = this.open.get(request);
    if (open !== undefined) open.receivedBits += bytes * 8;
  }

  private ended(request: SegmentRequest, outcome: RequestRecord['outcome']): void {
    const open = this.open.get(request);
    if (open === undefined) return;
    this.open.delete(request);
    this.requests.push({
      ...open,
      endedAtSeconds: this.nowSeconds,
      receivedBits: request.bytesLoaded > 0 ? request.bytesLoaded * 8 : open.receivedBits,
      outcome,
    });
  }
}

/** Seconds of media ahead of the playhead, from the first range that reaches beyond it. */
function bufferedAhead({ buffered, currentTime }: HTMLMediaElement): number {
  for (let i = 0; i < buffered.length; i++) {
    const end = buffered.end(i);
    if (end > currentTime) return end - Math.max(currentTime, buffered.start(i));
  }
  return 0;
}
