/** One replayed session: its media and a log of requests. Several sessions may share a link with the trace's clock. */

import { InputError } from '../../abr/errors.ts';
import { PiecewisePath } from '../../abr/index.ts';
import type { OtherTraffic } from '../households.ts';
import type { Chunk } from '../link/chunked-flight.ts';
import { linkOf } from '../link/trace-link.ts';
import type { BlockingReload } from '../media/playlists.ts';
import {
  type MediaFile,
  type PartKind,
  type Presentation,
  type PresentationOptions,
  presentation,
} from '../media/presentation.ts';
import type { PresentationTime } from '../media/stream.ts';
import type { ResolvedScenario } from '../results.ts';
import { resolveScenario } from '../scenario-file.ts';
import { type Scenario, traceScaleOf } from '../scenarios.ts';
import { linkSteps, type Trace, traceStartUtcMs } from '../trace.ts';
import type { TimerClock } from './clock.ts';
import type { Delivery } from './delivery.ts';
import { PacedLink } from './paced-link.ts';
import type { PublishedLink } from './published-link.ts';
import { type ByteRange, RangeStream } from './range-stream.ts';

export interface SessionSpec {
  trace: Trace;
  /** Ladder, sizes, RTT, payload share, scale of the trace, and its live stream. */
  scenario: Scenario | ResolvedScenario;
  /** Second of the trace at the link's second 0, which is the first media request on it. Default 0. */
  startSeconds?: number;
  /** Session whose link and clock this session shares; trace, start, pacing and the scenario's link must be equal. */
  link?: ReplaySession;
  traffic?: readonly OtherTraffic[];
  /** Segments to serve, at most the scenario's. Default: the scenario's. */
  segmentCount?: number;
  /** `none`: bytes arrive at once, because another component is the link (`transport/`). */
  pacing?: 'link' | 'none';
  /** How media responses are framed. Default `length`. */
  delivery?: Delivery;
  /** Called at the link's second 0, before the response to the request that starts it. */
  onStart?: () => void;
  media?: Pick<PresentationOptions, 'addressing' | 'periods' | 'audio' | 'padding' | 'clips'>;
  /** Other files instead of the scenario's media. */
  presentation?: Presentation;
}

/** A media request. Times are of the link's clock, 0 before its start. */
export interface RequestLogEntry {
  /** Relative to the session's folder. */
  path: string;
  kind: PartKind;
  representationId: string;
  /** Counted from 0; segments alone. */
  segmentIndex?: number;
  /** Bytes requested, and bytes that the response's reader has taken. A server takes bytes once it has written them. */
  bytes: number;
  sentBytes: number;
  requestedAtSeconds: number;
  firstByteAtSeconds?: number;
  endedAtSeconds?: number;
  /** When the last byte was due, given the trace and the link's other transfers. */
  prescribedEndSeconds?: number;
  outcome: 'active' | 'complete' | 'aborted';
}

export interface PacedResponse {
  /** On the link's clock; 0 before its start. */
  requestedAtSeconds: number;
  body: ReadableStream<Uint8Array>;
}

/** A live segment may be requested this long before its first chunk exists, because players' clocks may be fast. */
const EARLY_SECONDS = 0.25;
const UNPACED_BPS = 1e12;

export class ReplaySession {
  readonly presentation: Presentation;
  readonly startSeconds: number;
  readonly log: RequestLogEntry[] = [];
  private readonly _link: PacedLink;
  private _active = 0;

  /** @throws {InputError} for media or a link that cannot be served, {RangeError} for a trace without capacity. */
  constructor(
    readonly id: string,
    readonly spec: SessionSpec,
    private readonly _clock: TimerClock,
  ) {
    const { trace, scenario, startSeconds = 0, segmentCount = scenario.segmentCount } = spec;
    this.startSeconds = startSeconds;
    const isPaced = spec.pacing !== 'none';
    const path = isPaced
      ? linkOf(trace, scenario).from(startSeconds, 0)
      : new PiecewisePath({ stepEndsSeconds: [1], ratesBps: [UNPACED_BPS] });
    if (spec.link) requireSameLink(spec, spec.link);
    this._link = spec.link?._link ?? new PacedLink(_clock, path, isPaced ? scenario.rttSeconds : 0);
    this._link.addTraffic(spec.traffic ?? []);
    if (spec.onStart) this._link.onStart(spec.onStart);
    const segmentSizesBits = resolveScenario(scenario).segmentSizesBits.slice(0, segmentCount);
    this.presentation = spec.presentation ?? presentation({ ...scenario, segmentSizesBits, ...spec.media });
  }

  /** Seconds since the link's first media request, or a live stream's first request for a manifest; 0 before. */
  get nowSeconds(): number {
    return this._link.nowSeconds;
  }

  /** The trace's UTC in ms now. Until the link starts, it stays at the link's second 0. */
  get utcMs(): number {
    return traceStartUtcMs(this.spec.trace.metadata) + (this.startSeconds + this.nowSeconds) * 1000;
  }

  manifest(): string {
    this._joinLive();
    return this.presentation.manifest(this._now);
  }

  /** Resolves once the HLS playlist has what a reload asks for. Rejects with a `RangeError` if this is far ahead. */
  async playlist(path: string, reload?: BlockingReload): Promise<string | undefined> {
    const { presentation } = this;
    this._joinLive();
    if (reload) {
      const { mediaSequence } = reload;
      if (presentation.playlistExistsAtSeconds({ mediaSequence: mediaSequence - 2 }) > this.nowSeconds)
        throw new RangeError(`_HLS_msn: expected at most two after the newest segment, got ${mediaSequence}`);
      const atSeconds = presentation.playlistExistsAtSeconds(reload);
      while (this.nowSeconds < atSeconds) await this._wait(atSeconds - this.nowSeconds);
    }
    return presentation.playlist(path, this._now);
  }

  /** Players of a live stream compute with its clock from their first request on. */
  private _joinLive(): void {
    if (this.spec.scenario.live) this._link.start();
  }

  /** Seconds until a file may be requested; <= 0 if it may be requested now. */
  secondsUntil({ chunks = [] }: MediaFile): number {
    return (chunks[0]?.existsAtSeconds ?? Number.NEGATIVE_INFINITY) - EARLY_SECONDS - this.nowSeconds;
  }

  /** Whether all of a file's bytes before `end` exist. */
  isComplete({ chunks = [] }: MediaFile, end: number): boolean {
    const last = chunks.find((chunk) => chunk.end >= end);
    return (last?.existsAtSeconds ?? Number.NEGATIVE_INFINITY) <= this.nowSeconds;
  }

  get isActive(): boolean {
    return this._active > 0;
  }

  /** Bits delivered to all sessions on the link / the link's bits, until a request last ended. */
  get linkUtilisation(): number {
    return this._link.utilisation;
  }

  get publishedLink(): PublishedLink {
    const { trace, scenario } = this.spec;
    return {
      ...linkSteps(trace, traceScaleOf(scenario, trace) * scenario.payloadShare),
      rttSeconds: scenario.rttSeconds,
      startSeconds: this.startSeconds,
      traceStartUtcMs: traceStartUtcMs(trace.metadata),
    };
  }

  /**
   * Delivers a range of a file at the link's rate, a chunk not before it exists. The first request for a segment starts
   * the link's clock; earlier requests only cost an RTT. Resolves just before the first byte; rejects if `signal`
   * aborts before. Afterwards the reader aborts by cancelling the body.
   */
  serve(file: MediaFile, range: ByteRange, options: { path: string; signal: AbortSignal }): Promise<PacedResponse> {
    const entry = logEntryOf(file, range, options.path);
    this.log.push(entry);
    // The request that starts the clock is at its second 0.
    entry.requestedAtSeconds = this.nowSeconds;
    if (entry.kind === 'segment') this._link.start();
    this._active++;
    return new Promise((resolve, reject) => {
      const end = (outcome: 'complete' | 'aborted') => {
        if (entry.outcome !== 'active') return;
        this._active--;
        handle.cancel();
        entry.outcome = outcome;
        entry.endedAtSeconds = this.nowSeconds;
      };
      const onTaken = (bytes: number) => {
        entry.sentBytes = bytes;
        if (bytes < entry.bytes) return;
        end('complete');
        if (handle.prescribedEndSeconds !== undefined && this.spec.pacing !== 'none')
          entry.prescribedEndSeconds = handle.prescribedEndSeconds;
      };
      const body = new RangeStream(file.body, range, { onTaken, onCancel: () => end('aborted') });
      const onDelivered = (bytes: number) => {
        if (entry.firstByteAtSeconds === undefined) {
          entry.firstByteAtSeconds = this.nowSeconds;
          resolve({ requestedAtSeconds: entry.requestedAtSeconds, body: body.stream });
        }
        body.allow(bytes);
      };
      const handle = this._link.request(entry.bytes, onDelivered, chunksOf(file, range));
      options.signal.addEventListener('abort', () => {
        end('aborted');
        reject(options.signal.reason);
      });
    });
  }

  private get _now(): PresentationTime {
    return { sessionSeconds: this.nowSeconds, utcMs: this.utcMs };
  }

  private _wait(seconds: number): Promise<void> {
    return new Promise((resolve) => void this._clock.schedule(resolve, Math.ceil(seconds * 1000)));
  }
}

function requireSameLink({ trace, scenario, startSeconds = 0, pacing = 'link' }: SessionSpec, other: ReplaySession) {
  const is = other.spec;
  // Links of the same trace, scale and RTT are the same object.
  const isSame = linkOf(trace, scenario) === linkOf(is.trace, is.scenario) && pacing === (is.pacing ?? 'link');
  if (isSame && startSeconds === other.startSeconds) return;
  throw new InputError('link', 'a session with the same trace, start, scale, RTT and pacing', other.id);
}

/** The chunks of a range; undefined for a file that always exists. */
function chunksOf({ chunks }: MediaFile, { start, end }: ByteRange): Chunk[] | undefined {
  return chunks?.flatMap((chunk, i) => {
    const bytes = Math.min(chunk.end, end) - Math.max(chunks[i - 1]?.end ?? 0, start);
    return bytes > 0 ? [{ existsAtSeconds: chunk.existsAtSeconds, bits: 8 * bytes }] : [];
  });
}

function logEntryOf(file: MediaFile, { start, end }: ByteRange, path: string): RequestLogEntry {
  const parts = file.parts.filter((part) => part.start < end && part.end > start);
  const { kind, segmentIndex } = parts.find((part) => part.kind === 'segment') ?? parts[0]!;
  return {
    ...{ path, kind, representationId: file.representationId },
    ...(segmentIndex !== undefined && { segmentIndex }),
    ...{ bytes: end - start, sentBytes: 0, requestedAtSeconds: 0, outcome: 'active' },
  };
}
