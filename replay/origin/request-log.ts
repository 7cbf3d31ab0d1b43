/** The origin's log of media requests, to verify that they followed the trace. */

import { quantile } from '../../abr/quantile.ts';
import type { PartKind } from '../media/index.ts';

export interface RequestLogEntry {
  /** Relative to the session's folder. */
  path: string;
  kind: PartKind;
  representationId: string;
  /** Counted from 0; segments alone. */
  segmentIndex?: number;
  /** Bytes requested, and bytes that the reader of the response has taken: a server once it has written them. */
  bytes: number;
  sentBytes: number;
  /** All times are of the link's clock; negative before the first request for a segment. */
  requestedAtSeconds: number;
  firstByteAtSeconds?: number;
  /** When the last byte was taken. */
  endedAtSeconds?: number;
  /** When the last byte was due, given the trace and the link's other transfers. */
  prescribedEndSeconds?: number;
  /**
   * Of a live stream, per chunk: from the moment at which its last byte was due, given its existence, the trace and the
   * link's other transfers, to the moment at which it was taken.
   */
  chunkLatenessSeconds?: number[];
  outcome: 'active' | 'complete' | 'aborted';
}

/** Lateness of all chunks that were sent; null without any. */
export interface ChunkLateness {
  chunks: number;
  p50Seconds: number | null;
  p95Seconds: number | null;
}

export function chunkLateness(log: readonly RequestLogEntry[]): ChunkLateness {
  const ascending = Float64Array.from(log.flatMap(({ chunkLatenessSeconds = [] }) => chunkLatenessSeconds)).sort();
  const at = (level: number) => (ascending.length === 0 ? null : quantile(ascending, level));
  return { chunks: ascending.length, p50Seconds: at(0.5), p95Seconds: at(0.95) };
}
