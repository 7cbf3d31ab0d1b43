/** What the runner tells a page and what the page reports: plain JSON, the contract between the two. */

import type { Decision, InFlight, PlayerState } from '../../abr/index.ts';
import type { ModelFile } from '../../predictor/built-in/model-file.ts';
import type { OwnAlgorithm } from '../own-algorithm.ts';
import type { Scenario } from '../scenarios.ts';

/** One session for a page to play. */
export interface SessionConfig {
  /** The session's folder at the origin, with a slash at its end. */
  sessionUrl: string;
  algorithm: string;
  /** The file of an algorithm that is one. */
  own?: OwnAlgorithm;
  seed: number;
  scenario: Pick<Scenario, 'ladderBps' | 'segmentSeconds' | 'bufferCapSeconds' | 'rttSeconds' | 'mu' | 'lambda'>;
  segmentCount: number;
  /** Waiting (startup and stalls) after which the session is given up. */
  cutoffSeconds: number;
  /** What the built-in forecaster runs on. Default: the shipped one. */
  model?: ModelFile;
}

/** One request for a segment of video; times are seconds of the session's clock (0 is the first of them). */
export interface RequestRecord {
  index: number;
  representationId: string;
  bitrateBps: number;
  requestedAtSeconds: number;
  /** What the element had ahead of the playhead at that moment. */
  bufferLevelSeconds: number;
  endedAtSeconds: number;
  receivedBits: number;
  outcome: 'complete' | 'abandoned' | 'failed';
}

/** A decision with all that it was based on; of the forecast its source alone, because paths are no JSON. */
export interface DecisionRecord {
  kind: 'decide' | 'abandon';
  representationId: string;
  decision: Decision;
  /** Without `weights`, which are the scenario's. */
  state: Omit<PlayerState, 'weights'>;
  inFlight?: InFlight;
  forecast?: { source: string; issuedAtMs: number };
}

/** A time in which the playhead stood still, as the element's own clock has it. */
export interface StallRecord {
  startSeconds: number;
  endSeconds: number;
  /** Position of the playhead. */
  mediaSeconds: number;
}

export interface SessionRecord {
  endedBy: 'end' | 'cutoff' | 'fault';
  fault?: string;
  requests: RequestRecord[];
  /** None for algorithms that are not the plugin's. */
  decisions: DecisionRecord[];
  /** From the first media request to the first movement of the playhead; undefined where it never moved. */
  startupSeconds?: number;
  stalls: StallRecord[];
  /** Elapsed since the first movement, less media played and stalls: what the element lost without saying so. */
  unaccountedSeconds: number;
  /** Per segment, the picture widths that were on screen. */
  widthsOnScreen: number[][];
  droppedFrames: number;
  presentedFrames: number;
  /** Milliseconds that each decision took; only where decisions were timed. */
  decisionMillis: number[];
  /** Trace seconds minus session seconds that an oracle went by. */
  oracleOffsetSeconds?: number;
  userAgent: string;
  dashVersion: string;
}

/** What a page offers to the runner. */
export interface BenchPage {
  /** Loads what the session needs beforehand. */
  prepare(config: SessionConfig): Promise<void>;
  /** Plays it to its end. */
  play(): Promise<SessionRecord>;
}

declare global {
  interface Window {
    leoAbrBench: BenchPage;
  }
}
