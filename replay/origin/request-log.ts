/** What the origin notes of each media request, for checks of how true it kept to the trace. */

import type { PartKind } from '../media/index.ts';

export interface RequestLogEntry {
  /** Below the session's folder, as it was asked for. */
  path: string;
  kind: PartKind;
  representationId: string;
  /** Counted from 0; segments alone. */
  segmentIndex?: number;
  /** Bytes asked for, and bytes handed to the connection. */
  bytes: number;
  sentBytes: number;
  /** Session's clock throughout; below 0 for what came before the first media request. */
  requestedAtSeconds: number;
  firstByteAtSeconds?: number;
  /** When the last byte was handed to the connection. */
  endedAtSeconds?: number;
  /** When the last byte was due by the trace and the session's other transfers. */
  prescribedEndSeconds?: number;
  outcome: 'active' | 'complete' | 'aborted';
}
