/**
 * What is remembered of one playback session: its clock, its video downloads, what was asked for last. Pure: times come in
 * as milliseconds of any clock that only moves forward.
 */

import type { Download, InFlight } from '../abr/controller.ts';

/** Controllers look back 16 downloads at most; twice that is kept. */
const DOWNLOADS_KEPT = 32;

/** A segment of video, asked for at one bitrate. */
export interface SegmentRequest {
  /** Period that the segment belongs to. */
  streamId: string;
  /** In the presentation, from 0. */
  index: number;
  bitrateBps: number;
}

/** A video download under way. */
export interface ActiveDownload extends SegmentRequest {
  sizeBits: number;
  requestedAtSeconds: number;
  receivedBits: number;
  firstByteAtSeconds: number | undefined;
  lastProgressAtSeconds: number | undefined;
}

export class Session {
  /** From 1 for the first source that the player was given. */
  readonly number: number;
  #startMs: number | undefined;
  #downloads: Download[] = [];
  #last: SegmentRequest | undefined;
  #beforeLast: SegmentRequest | undefined;
  #active: ActiveDownload | undefined;
  #abandonments = 0;
  #requestedBits = 0;
  #wastedBits = 0;
  /** False until there is something to show. */
  started = false;

  constructor(number: number) {
    this.number = number;
  }

  /** Seconds since the first media request; 0 before it. */
  seconds(clockMs: number): number {
    return this.#startMs === undefined ? 0 : Math.max(0, (clockMs - this.#startMs) / 1000);
  }

  /** The session's clock runs. */
  get isRunning(): boolean {
    return this.#startMs !== undefined;
  }

  /** The first media request of the session, of whatever type, starts its clock. */
  mediaRequested(clockMs: number): void {
    this.#startMs ??= clockMs;
  }

  /** Finished and abandoned video downloads, oldest first. */
  get downloads(): readonly Download[] {
    return this.#downloads;
  }

  /** The video segment that was asked for last; undefined at the start and after a seek. */
  get last(): SegmentRequest | undefined {
    return this.#last;
  }

  /** The one before it. */
  get beforeLast(): SegmentRequest | undefined {
    return this.#beforeLast;
  }

  get active(): ActiveDownload | undefined {
    return this.#active;
  }

  /** A video segment was asked for; repeating the last one at another bitrate counts as the same segment. */
  videoRequested(request: SegmentRequest & { sizeBits: number }, clockMs: number): ActiveDownload {
    this.mediaRequested(clockMs);
    const { streamId, index, bitrateBps } = request;
    const isRepeat = this.#last?.streamId === streamId && this.#last.index === index;
    if (!isRepeat) {
      this.#beforeLast = this.#last;
      this.#abandonments = 0;
    }
    this.#last = { streamId, index, bitrateBps };
    this.#requestedBits += request.sizeBits;
    this.#active = {
      ...request,
      requestedAtSeconds: this.seconds(clockMs),
      receivedBits: 0,
      firstByteAtSeconds: undefined,
      lastProgressAtSeconds: undefined,
    };
    return this.#active;
  }

  /** Bits of an active download have come; `receivedBits` in all. */
  videoProgressed(download: ActiveDownload, receivedBits: number, clockMs: number): void {
    const atSeconds = this.seconds(clockMs);
    download.firstByteAtSeconds ??= atSeconds;
    if (receivedBits > download.receivedBits) download.lastProgressAtSeconds = atSeconds;
    download.receivedBits = receivedBits;
  }

  /** A video download ended. `evidence` is false for what came from a cache: it says nothing of the link. */
  videoEnded(
    download: ActiveDownload,
    end: { abandoned: boolean; receivedBits: number; sizeBits: number; downloadSeconds: number; evidence: boolean },
  ): void {
    if (this.#active === download) this.#active = undefined;
    this.#requestedBits += end.sizeBits - download.sizeBits;
    if (end.abandoned) {
      this.#abandonments++;
      this.#wastedBits += end.receivedBits;
    }
    if (!end.evidence) return;
    this.#downloads.push({
      segmentIndex: download.index,
      bitrateBps: download.bitrateBps,
      receivedBits: end.receivedBits,
      sizeBits: end.sizeBits,
      requestedAtSeconds: download.requestedAtSeconds,
      downloadSeconds: end.downloadSeconds,
      ...(download.firstByteAtSeconds === undefined
        ? {}
        : { latencySeconds: download.firstByteAtSeconds - download.requestedAtSeconds }),
      abandoned: end.abandoned,
    });
    if (this.#downloads.length > DOWNLOADS_KEPT) this.#downloads.shift();
  }

  /** A video download failed; it tells nothing. */
  videoFailed(download: ActiveDownload): void {
    if (this.#active === download) this.#active = undefined;
    this.#requestedBits -= download.sizeBits;
  }

  /** The viewer jumped: the next segment follows on nothing. */
  seeked(): void {
    this.#last = undefined;
    this.#beforeLast = undefined;
  }

  /** The download under way as a controller is shown it. */
  inFlight(): InFlight | undefined {
    const active = this.#active;
    if (active === undefined) return undefined;
    return {
      segmentIndex: active.index,
      bitrateBps: active.bitrateBps,
      sizeBits: active.sizeBits,
      requestedAtSeconds: active.requestedAtSeconds,
      receivedBits: active.receivedBits,
      firstByteAtSeconds: active.firstByteAtSeconds,
      lastProgressAtSeconds: active.lastProgressAtSeconds,
      abandonments: this.#abandonments,
      sessionRequestedBits: this.#requestedBits,
      sessionWastedBits: this.#wastedBits,
    };
  }
}
