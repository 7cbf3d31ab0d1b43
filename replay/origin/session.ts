/** One replayed session: a trace's clock, the link that its requests share, the media that it serves and their log. */

import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { PiecewisePath } from '../../abr/index.ts';
import { type MediaFile, type Presentation, type PresentationOptions, presentation } from '../media/index.ts';
import type { ResolvedScenario } from '../results.ts';
import { type Scenario, traceScaleOf } from '../scenarios.ts';
import { linkOf, sizesOf } from '../simulator/session-setup.ts';
import { linkSteps, meanRateBps, type Trace, traceStartUtcMs } from '../trace.ts';
import type { Delivery } from './delivery.ts';
import { PacedLink, type Ticker } from './paced-link.ts';
import type { PublishedLink } from './published-link.ts';
import type { RequestLogEntry } from './request-log.ts';

export interface SessionSpec {
  trace: Trace;
  /** Ladder, sizes, RTT, payload share and scale of the trace. */
  scenario: Scenario | ResolvedScenario;
  /** Second of the trace at the first media request. Default 0. */
  startSeconds?: number;
  /** Segments to serve, at most the scenario's. Default: the scenario's. */
  segmentCount?: number;
  /**
   * `link` (default): bytes go along the trace, a request costs an RTT. `none`: at once, because something else is the
   * link (`replay/kernel`); then nothing has a prescribed end.
   */
  pacing?: 'link' | 'none';
  /** How media responses are framed. Default `length`. */
  delivery?: Delivery;
  /** Told of the first request for a segment, the clock's second 0, before it is answered. */
  onStart?: () => void;
  /** Form of the media, see `replay/media`. */
  media?: Pick<PresentationOptions, 'addressing' | 'periods' | 'audio' | 'padding'>;
}

/** A range of bytes, `end` exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Bytes that wait in a connection beyond this are held back until it has taken some. */
const LARGEST_BACKLOG_BYTES = 8 * 2 ** 20;
/** What an unpaced session delivers at. */
const UNPACED_BPS = 1e12;

export class ReplaySession {
  readonly id: string;
  readonly spec: SessionSpec;
  readonly presentation: Presentation;
  readonly startSeconds: number;
  private readonly ticker: Ticker;
  private readonly link: PacedLink;
  private readonly latencySeconds: number;
  private readonly entries: RequestLogEntry[] = [];
  /** Requests from before the clock's start, with the clock's time at which they came. */
  private readonly early: { entry: RequestLogEntry; atMs: number }[] = [];
  private active = 0;

  /** @throws {InputError} for sizes that cannot be served, {RangeError} for a trace that delivers nothing. */
  constructor(id: string, spec: SessionSpec, ticker: Ticker) {
    const { trace, scenario, startSeconds = 0, segmentCount = scenario.segmentCount } = spec;
    this.id = id;
    this.spec = spec;
    this.startSeconds = startSeconds;
    this.ticker = ticker;
    const isPaced = spec.pacing !== 'none';
    this.latencySeconds = isPaced ? scenario.rttSeconds : 0;
    const path = isPaced
      ? linkOf(trace, scenario).from(startSeconds, 0)
      : new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [UNPACED_BPS], tail: 'repeat' });
    this.link = new PacedLink(ticker, path, this.latencySeconds);
    this.presentation = presentation({
      ladderBps: scenario.ladderBps,
      segmentSeconds: scenario.segmentSeconds,
      segmentSizesBits: sizesOf(scenario).slice(0, segmentCount),
      ...spec.media,
    });
  }

  /** Seconds since the first media request; 0 before. */
  get nowSeconds(): number {
    return this.link.nowSeconds;
  }

  /** The trace's UTC in ms now; it stands at the session's start until the first media request. */
  get utcMs(): number {
    return this.utcMsAt(this.nowSeconds);
  }

  /** The trace's UTC in ms at a second of the session. */
  utcMsAt(sessionSeconds: number): number {
    return traceStartUtcMs(this.spec.trace.metadata) + (this.startSeconds + sessionSeconds) * 1000;
  }

  get hasStarted(): boolean {
    return this.link.isStarted;
  }

  get isActive(): boolean {
    return this.active > 0;
  }

  /** Requests in the order in which they came. */
  get log(): readonly RequestLogEntry[] {
    return this.entries;
  }

  get publishedLink(): PublishedLink {
    const { trace, scenario } = this.spec;
    return {
      ...linkSteps(trace, traceScaleOf(scenario, meanRateBps(trace)) * scenario.payloadShare),
      rttSeconds: scenario.rttSeconds,
      startSeconds: this.startSeconds,
      traceStartUtcMs: traceStartUtcMs(trace.metadata),
    };
  }

  /**
   * Answers with a range of a file at the link's pace. The first request for a segment starts the clock. What is asked
   * for before costs an RTT alone, because the trace stands. `begin` is called just before the first byte, with the
   * session's second at which the request came; it sends the head and returns what the body is written to.
   */
  serve(
    file: MediaFile,
    range: ByteRange,
    response: ServerResponse,
    options: { path: string; begin(requestedAtSeconds: number): Writable },
  ): void {
    const { entry, isSegment } = describeRequest(file, range, options.path);
    this.entries.push(entry);
    if (isSegment && !this.link.isStarted) this.startClock();
    else entry.requestedAtSeconds = this.nowSeconds;
    const { requestedAtSeconds } = entry;
    if (!this.link.isStarted) this.early.push({ entry, atMs: this.ticker.clock.nowMs() });

    this.active++;
    let writer: RangeWriter | undefined;
    const deliver = (bytes: number) => {
      if (writer === undefined) {
        entry.firstByteAtSeconds = this.nowSeconds;
        const body = options.begin(requestedAtSeconds);
        writer = new RangeWriter(file, range, body);
        body.once('finish', () => {
          entry.outcome = 'complete';
          entry.sentBytes = entry.bytes;
          entry.endedAtSeconds = this.nowSeconds;
          if (handle.prescribedEndSeconds !== undefined && this.spec.pacing !== 'none')
            entry.prescribedEndSeconds = handle.prescribedEndSeconds;
        });
      }
      writer.writeUpTo(bytes);
      entry.sentBytes = writer.sentBytes;
    };
    // Called by a timer: what is thrown there would end the process and all other sessions.
    const onDelivered = (bytes: number) => {
      if (response.destroyed) return;
      try {
        deliver(bytes);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
        response.destroy();
      }
    };
    const handle = this.link.isStarted
      ? this.link.request(entry.bytes, { onDelivered })
      : this.requestWithoutClock(entry.bytes, onDelivered);
    // A response that waits behind another one on its connection is not told of the connection's end; its request is.
    response.req.once('close', () => {
      this.active--;
      if (entry.outcome === 'complete') return;
      handle.cancel();
      entry.outcome = 'aborted';
      entry.sentBytes = writer?.sentBytes ?? 0;
      entry.endedAtSeconds = this.nowSeconds;
    });
  }

  private startClock(): void {
    const nowMs = this.ticker.clock.nowMs();
    this.link.start();
    this.spec.onStart?.();
    for (const { entry, atMs } of this.early) {
      const offset = (atMs - nowMs) / 1000;
      entry.requestedAtSeconds = offset;
      // Noted while the clock stood at 0.
      if (entry.firstByteAtSeconds !== undefined) entry.firstByteAtSeconds = offset + this.latencySeconds;
      if (entry.endedAtSeconds !== undefined) entry.endedAtSeconds = offset + this.latencySeconds;
    }
    this.early.length = 0;
  }

  private requestWithoutClock(bytes: number, onDelivered: (bytes: number) => void) {
    const { clock } = this.ticker;
    const callOff = clock.schedule(() => onDelivered(bytes), this.latencySeconds * 1000);
    return { prescribedEndSeconds: undefined, cancel: callOff };
  }
}

function describeRequest(file: MediaFile, { start, end }: ByteRange, path: string) {
  const parts = file.parts.filter((part) => part.start < end && part.end > start);
  const segment = parts.find(({ kind }) => kind === 'segment');
  const part = segment ?? parts[0]!;
  const entry: RequestLogEntry = {
    path,
    kind: part.kind,
    representationId: file.representationId,
    ...(part.segmentIndex !== undefined && { segmentIndex: part.segmentIndex }),
    bytes: end - start,
    sentBytes: 0,
    requestedAtSeconds: 0,
    outcome: 'active',
  };
  return { entry, isSegment: segment !== undefined };
}

/** Writes a range of a file to the body of a response, as far as it may and as the connection takes it. */
class RangeWriter {
  sentBytes = 0;
  private allowedBytes = 0;
  private readonly file: MediaFile;
  private readonly range: ByteRange;
  private readonly body: Writable;
  private waitsForDrain = false;

  constructor(file: MediaFile, range: ByteRange, body: Writable) {
    this.file = file;
    this.range = range;
    this.body = body;
  }

  /** All bytes of the range up to this number may go. */
  writeUpTo(bytes: number): void {
    this.allowedBytes = bytes;
    this.write();
  }

  private write(): void {
    const { body, range } = this;
    if (this.waitsForDrain || body.destroyed) return;
    const from = range.start + this.sentBytes;
    body.cork();
    for (const piece of this.file.body.read(from, range.start + this.allowedBytes)) {
      body.write(piece);
      this.sentBytes += piece.length;
      if (body.writableLength > LARGEST_BACKLOG_BYTES) break;
    }
    body.uncork();
    if (this.sentBytes === range.end - range.start) body.end();
    else if (this.sentBytes < this.allowedBytes) {
      this.waitsForDrain = true;
      body.once('drain', () => {
        this.waitsForDrain = false;
        this.write();
      });
    }
  }
}
