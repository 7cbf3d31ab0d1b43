/** Records a player's requests for video segments. The first one starts the session's clock, unless it runs. */

import type { RequestRecord } from '../session-record.ts';

export interface RequestedSegment {
  index: number;
  /** `video-<n>`, n counting up the ladder. */
  representationId: string;
  /** So far. Default: what `received` counted. */
  loadedBytes?(): number;
  /** Why the player's own ABR chose the representation. */
  ownReason(): string;
}

type OpenRequest = Omit<RequestRecord, 'endedAtSeconds' | 'outcome'>;

/** Requests are the player's own objects. */
export class RequestRecorder {
  readonly requests: RequestRecord[] = [];
  /** Receives the trace's second at which a request reached the origin, and the session's at which it left the page. */
  onResponse: ((traceSeconds: number, requestedAtSeconds: number) => void) | undefined;
  private readonly open = new Map<object, OpenRequest>();
  private zeroMs: number | undefined;

  constructor(
    private readonly element: HTMLMediaElement,
    private readonly ladderBps: readonly number[],
  ) {}

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

  started(request: object, { index, representationId }: RequestedSegment): void {
    const nowMs = performance.now();
    this.zeroMs ??= nowMs;
    this.open.set(request, {
      index,
      representationId,
      bitrateBps: this.ladderBps[Number(representationId.replace('video-', ''))]!,
      requestedAtSeconds: (nowMs - this.zeroMs) / 1000,
      bufferLevelSeconds: bufferedAhead(this.element),
      receivedBits: 0,
    });
  }

  received(request: object, bytes: number): void {
    const open = this.open.get(request);
    if (open !== undefined) open.receivedBits += bytes * 8;
  }

  /**
   * `traceSeconds`: the response's header `x-trace-seconds`. `sentAtMs`: when the request left, on `performance.now()`;
   * default, when it was reported.
   */
  responded(request: object, traceSeconds: string | null | undefined, sentAtMs?: number): void {
    const open = this.open.get(request);
    if (open === undefined) return;
    if (sentAtMs !== undefined) open.requestedAtSeconds = (sentAtMs - this.zeroMs!) / 1000;
    if (traceSeconds) this.onResponse?.(Number(traceSeconds), open.requestedAtSeconds);
  }

  /** `bytes`: default, those that were received. Ignores requests for other things than segments of video. */
  ended(request: object, outcome: RequestRecord['outcome'], bytes?: number): void {
    const open = this.open.get(request);
    if (open === undefined) return;
    this.open.delete(request);
    this.requests.push({
      ...open,
      endedAtSeconds: this.nowSeconds,
      receivedBits: bytes === undefined ? open.receivedBits : bytes * 8,
      outcome,
    });
  }
}

/** Seconds of media ahead of the playhead, from the first range that reaches beyond it. */
export function bufferedAhead({ buffered, currentTime }: HTMLMediaElement): number {
  for (let i = 0; i < buffered.length; i++) {
    const end = buffered.end(i);
    if (end > currentTime) return end - Math.max(currentTime, buffered.start(i));
  }
  return 0;
}
