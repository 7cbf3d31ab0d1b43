/** Records a player's requests for video segments. The first request starts the session's clock. */

import type { RequestNote, RequestRecord } from '../record/session-record.ts';

export interface RequestedSegment {
  index: number;
  /** `video-<n>`, n counting up the ladder. */
  representationId: string;
  /** Bytes so far. Default: the bytes that `received` counted. */
  loadedBytes?(): number;
  /** Seconds for which the player holds the request back. Default 0. */
  delaySeconds?: number;
  ownReason(): string;
}

/** Requests are the player's own objects. */
export class RequestRecorder {
  readonly requests: RequestNote[] = [];
  /** Receives a request's second of the trace at the origin, and its second on the plugin's clock: since the first. */
  onResponse: ((traceSeconds: number, requestedAtSeconds: number) => void) | undefined;
  private readonly _active = new Map<object, { note: RequestNote; loadedBytes: RequestedSegment['loadedBytes'] }>();
  private _zeroMs: number | undefined;

  constructor(
    private readonly _element: HTMLMediaElement,
    private readonly _ladderBps: readonly number[],
  ) {}

  get nowSeconds(): number {
    return this._zeroMs === undefined ? 0 : (performance.now() - this._zeroMs) / 1000;
  }

  /** Starts the clock, unless it runs: it is 0 at `zeroMs` of `performance.now()`. `started` starts it, too. */
  startClock(zeroMs = performance.now()): void {
    this._zeroMs ??= zeroMs;
  }

  get isRunning(): boolean {
    return this._zeroMs !== undefined;
  }

  abandonAll(): RequestRecord[] {
    for (const request of this._active.keys()) this.ended(request, 'abandoned');
    return this.requests as RequestRecord[];
  }

  started(request: object, { index, representationId, loadedBytes, delaySeconds = 0 }: RequestedSegment): void {
    const nowMs = performance.now();
    this.startClock(nowMs);
    const note: RequestNote = {
      ...{ index, representationId, bitrateBps: this.bitrateOf(representationId) },
      requestedAtSeconds: (nowMs - this._zeroMs!) / 1000 + delaySeconds,
      bufferLevelSeconds: Math.max(0, bufferedAhead(this._element) - delaySeconds * this._element.playbackRate),
      ...{ endedAtSeconds: undefined, receivedBits: 0, outcome: 'active' },
    };
    this.requests.push(note);
    this._active.set(request, { note, loadedBytes });
  }

  /** Reads the bytes so far of active requests that do not report them through `received`. */
  count(): void {
    for (const { note, loadedBytes } of this._active.values()) {
      note.receivedBits = Math.max(note.receivedBits, (loadedBytes?.() ?? 0) * 8);
    }
  }

  received(request: object, bytes: number): void {
    const note = this._active.get(request)?.note;
    if (note !== undefined) note.receivedBits += bytes * 8;
  }

  /** `sentAtMs`: time of `performance.now()` at which the request left. Default: when `started` reported it. */
  responded(request: object, traceSeconds: string | null | undefined, sentAtMs?: number): void {
    const note = this._active.get(request)?.note;
    if (note === undefined) return;
    if (sentAtMs !== undefined) note.requestedAtSeconds = (sentAtMs - this._zeroMs!) / 1000;
    if (traceSeconds) {
      this.onResponse?.(Number(traceSeconds), note.requestedAtSeconds - this.requests[0]!.requestedAtSeconds);
    }
  }

  /** `bytes` defaults to the received bytes. Requests for anything but video segments are ignored. */
  ended(request: object, outcome: RequestRecord['outcome'], bytes?: number): void {
    const note = this._active.get(request)?.note;
    if (note === undefined) return;
    this._active.delete(request);
    Object.assign(note, { endedAtSeconds: this.nowSeconds, outcome });
    if (bytes !== undefined) note.receivedBits = bytes * 8;
  }

  protected bitrateOf(representationId: string): number {
    return this._ladderBps[Number(representationId.replace('video-', ''))]!;
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
