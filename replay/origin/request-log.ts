/** The origin's log of media requests, to verify that they followed the trace. */

import type { PartKind } from '../media/index.ts';

export interface RequestLogEntry {
  /** Relative to the session's folder. */
  path: string;
  kind: PartKind;
  representationId: string;
  /** Counted from 0; segments alone. */
  segmentIndex?: number;
  /** Bytes requested, and bytes written to the connection. */
  bytes: number;
  sentBytes: number;
  /** All times are of the session's clock; negative before the first request for a segment. */
  requestedAtSeconds: number;
  firstByteAtSeconds?: number;
  /** When the last byte was written to the connection. */
  endedAtSeconds?: number;
  /** When the last byte was due, given the trace and the session's other transfers. */
  prescribedEndSeconds?: number;
  outcome: 'active' | 'complete' | 'aborted';
}
