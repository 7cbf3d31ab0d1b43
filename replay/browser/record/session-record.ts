/** The interface between the runner and a page, in JSON (a session's configuration and its record), and its result. */

import type { ModelFile } from '../../../predictor/forecast/model-file.ts';
import type { PlannedSession } from '../../evaluation/plan/plan.ts';
import type { RequestLogEntry } from '../../origin/index.ts';
import type { OwnAlgorithm } from '../../own-algorithm.ts';
import type { ResolvedScenario, SessionResult } from '../../results.ts';
import type { LinkStatistics } from '../emulated-link.ts';
import type { DecisionRecord } from './decisions.ts';

export interface SessionConfig {
  /** The session's folder at the origin, with a trailing slash. */
  sessionUrl: string;
  algorithm: string;
  own?: OwnAlgorithm;
  seed: number;
  scenario: Pick<ResolvedScenario, 'ladderBps' | 'segmentSeconds' | 'bufferCapSeconds' | 'live' | 'qualities'> &
    Pick<ResolvedScenario, 'rttSeconds' | 'mu' | 'lambda'> &
    Partial<Pick<ResolvedScenario, 'assumed' | 'traceScale'>>;
  segmentCount: number;
  /** In a household: the second of the link's clock at which the session begins. 0: its first request starts that clock. */
  joinSeconds: number;
  /** The built-in forecaster's model. Default: the shipped model. */
  model?: ModelFile;
  onnx?: { modelUrl: string; runtimeUrl: string; wasmUrl: string };
  serviceUrl?: string;
}

/** A request for a segment of video; 0 is the first request, the origin's second 0 (live), or the join. */
export interface RequestNote {
  index: number;
  representationId: string;
  bitrateBps: number;
  requestedAtSeconds: number;
  /** The element's media ahead of the playhead at the request. */
  bufferLevelSeconds: number;
  /** Undefined while active. */
  endedAtSeconds: number | undefined;
  receivedBits: number;
  outcome: 'active' | 'complete' | 'abandoned' | 'failed';
}

export interface RequestRecord extends RequestNote {
  endedAtSeconds: number;
  outcome: Exclude<RequestNote['outcome'], 'active'>;
}

export interface StallRecord {
  startSeconds: number;
  endSeconds: number;
  mediaSeconds: number;
}

/** Where the playhead was, at the start and after changes of the rate, stalls and jumps. */
export interface PositionRecord {
  atSeconds: number;
  mediaSeconds: number;
  rate: number;
}

export interface BrowserSessionRecord {
  endedBy: 'end' | 'cutoff' | 'fault';
  fault?: string;
  requests: RequestRecord[];
  /** Empty for the player's own ABR. */
  decisions: DecisionRecord[];
  /** From second 0 to the first movement of the playhead; absent if it never moved. */
  startupSeconds?: number;
  stalls: StallRecord[];
  live?: {
    positions: PositionRecord[];
    jumps: number;
    endSeconds: number;
    /** dash.js's own figure of the latency then; the other players count differently. */
    shownLatencySeconds?: number;
  };
  /** Media that was due since the first movement minus played media: time lost without a `waiting` event. */
  unaccountedSeconds: number;
  /** Per segment, the picture widths that were on screen. */
  widthsOnScreen: number[][];
  decisionMillis: number[];
  /** Responses with segments of video by protocol, from resource timing (`h3`). */
  protocols: Record<string, number>;
  /** An oracle's trace time minus session time. */
  oracleOffsetSeconds?: number;
  userAgent: string;
  /** Version of dash.js, or of the player that the algorithm names. */
  playerVersion: string;
}

export interface DownloadTiming extends Pick<RequestRecord, 'index' | 'representationId' | 'requestedAtSeconds'> {
  sizeBits: number;
  measuredSeconds: number;
  prescribedSeconds: number;
}

export interface PlayedRecord {
  /** In a household, the player's `algorithm`, `seed` and `segmentCount`. */
  planned: PlannedSession;
  attempt: number;
  /** Why the session was rejected; absent if it was accepted. A household is rejected as a whole. */
  rejected?: string;
  result: SessionResult;
  record: BrowserSessionRecord;
  timings: DownloadTiming[];
  inconsistencies: string[];
  originLog: readonly RequestLogEntry[];
  /** Emulated link's use, from its second 0 to the end of the session, or of the household's last session. */
  linkStatistics?: LinkStatistics;
}

declare global {
  interface Window {
    leoAbrBench: {
      prepare(config: SessionConfig): Promise<void>;
      play(): Promise<BrowserSessionRecord>;
    };
  }
}
