/**
 * What happened in one player's session so far, on the session's clock (seconds since its first media request). Pure:
 * everything that the page shows of a player is read from here.
 */

import type { CandidateOutlook, Forecast } from 'leo-abr';
import { type QoeBreakdown, qoeWeights, sessionQoe } from '../abr/qoe.ts';
import type { SegmentRow, SessionResult } from '../replay/results.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { sessionTotals } from '../replay/simulator/session-result.ts';

/** One request for a segment; a segment that was abandoned has several. */
export interface DownloadNote {
  segmentIndex: number;
  bitrateBps: number;
  requestedAtSeconds: number;
  /** At the moment of the request. */
  bufferLevelSeconds: number;
  receivedBits: number;
  /** Undefined while it is under way. */
  endedAtSeconds: number | undefined;
  outcome: 'active' | 'complete' | 'abandoned' | 'failed';
}

/** A decision as it is shown. */
export interface DecisionNote {
  atSeconds: number;
  /** `decide` before a segment's request, `abandon` while one was under way. */
  kind: 'decide' | 'abandon';
  segmentIndex: number;
  bitrateBps: number;
  previousBitrateBps: number | undefined;
  bufferLevelSeconds: number;
  reason: string;
  plannedThroughputBps?: number | undefined;
  candidates?: readonly CandidateOutlook[] | undefined;
  forecast?: Forecast | undefined;
  forecastAgeSeconds?: number | undefined;
  handoverInHorizon?: boolean | undefined;
}

export interface Span {
  startSeconds: number;
  /** Undefined while it lasts. */
  endSeconds: number | undefined;
}

/** A time in which playback stood still for want of data. */
export interface StallNote extends Span {
  /** The segment that it waited for. */
  segmentIndex: number;
}

export interface BufferSample {
  atSeconds: number;
  levelSeconds: number;
}

export class SessionRecord {
  readonly downloads: DownloadNote[] = [];
  readonly decisions: DecisionNote[] = [];
  readonly bufferSamples: BufferSample[] = [];
  /** The last one may be open. */
  stalls: readonly StallNote[] = [];
  /** Second at which the first picture moved; undefined before. */
  startupSeconds: number | undefined;
  /** Now, or the session's last second where it is over. */
  nowSeconds = 0;
  /** Segments whose playback has begun. */
  shownSegments = 0;
  /** Of the picture on screen. */
  shownBitrateBps: number | undefined;
  endedBy: SessionResult['endedBy'] | undefined;

  requested(download: Omit<DownloadNote, 'receivedBits' | 'endedAtSeconds' | 'outcome'>): DownloadNote {
    const note: DownloadNote = { ...download, receivedBits: 0, endedAtSeconds: undefined, outcome: 'active' };
    this.downloads.push(note);
    return note;
  }

  /** The latest sample; 0 before there is one. */
  get bufferLevelSeconds(): number {
    return this.bufferSamples.at(-1)?.levelSeconds ?? 0;
  }

  get isStalled(): boolean {
    const last = this.stalls.at(-1);
    return last !== undefined && last.endSeconds === undefined;
  }

  get stallSeconds(): number {
    return this.stalls.reduce(
      (sum, { startSeconds, endSeconds }) => sum + (endSeconds ?? this.nowSeconds) - startSeconds,
      0,
    );
  }

  /** The waiting for the first picture, so far. */
  get startupSoFarSeconds(): number {
    return this.startupSeconds ?? this.nowSeconds;
  }

  /** Downloads that came whole, in order of their segments. */
  get segments(): DownloadNote[] {
    return this.downloads
      .filter(({ outcome }) => outcome === 'complete')
      .sort((a, b) => a.segmentIndex - b.segmentIndex);
  }
}

/** Bit/s that a download got so far, from its request on; undefined while that says nothing yet. */
export function measuredBps(download: DownloadNote, nowSeconds: number): number | undefined {
  const seconds = (download.endedAtSeconds ?? nowSeconds) - download.requestedAtSeconds;
  return seconds >= 0.1 && download.outcome !== 'failed' ? download.receivedBits / seconds : undefined;
}

/** QoE-linear of what was on screen so far, with its parts; undefined before the first segment has come. */
export function qoeSoFar(record: SessionRecord, scenario: Scenario): QoeBreakdown | undefined {
  const shown = record.segments.slice(0, Math.max(1, record.shownSegments));
  if (shown.length === 0) return undefined;
  const weights = { ...qoeWeights('linear', scenario.ladderBps), mu: scenario.mu, lambda: scenario.lambda };
  return sessionQoe(
    {
      bitratesBps: shown.map(({ bitrateBps }) => bitrateBps),
      segmentSeconds: scenario.segmentSeconds,
      startupSeconds: record.startupSoFarSeconds,
      stallSeconds: record.stallSeconds,
    },
    weights,
  );
}

/** Switches and mean bitrate of what was on screen so far. */
export function shownTotals(record: SessionRecord): { switches: number; meanBitrateBps: number | undefined } {
  const shown = record.segments.slice(0, record.shownSegments);
  const switches = shown.filter(({ bitrateBps }, i) => i > 0 && bitrateBps !== shown[i - 1]!.bitrateBps).length;
  const sum = shown.reduce((bits, { bitrateBps }) => bits + bitrateBps, 0);
  return { switches, meanBitrateBps: shown.length === 0 ? undefined : sum / shown.length };
}

/** The session in the form of the benchmark's results; of the segments that have come. */
export function sessionResult(
  record: SessionRecord,
  about: Pick<SessionResult, 'trace' | 'dataset' | 'group' | 'startSeconds' | 'algorithm' | 'seed'> & {
    scenario: Scenario;
  },
): SessionResult {
  const { scenario, ...identity } = about;
  const segments = record.segments.map((last): SegmentRow => {
    const tries = record.downloads.filter(({ segmentIndex }) => segmentIndex === last.segmentIndex);
    const first = tries[0]!;
    const decision = record.decisions.findLast(
      ({ segmentIndex, atSeconds }) => segmentIndex === last.segmentIndex && atSeconds <= last.endedAtSeconds!,
    );
    const stalls = record.stalls.filter(({ segmentIndex }) => segmentIndex === last.segmentIndex);
    return {
      index: last.segmentIndex,
      bitrateBps: last.bitrateBps,
      sizeBits: last.receivedBits,
      requestedAtSeconds: first.requestedAtSeconds,
      downloadSeconds: last.endedAtSeconds! - first.requestedAtSeconds,
      bufferLevelSeconds: first.bufferLevelSeconds,
      stallSeconds: stalls.reduce(
        (sum, { startSeconds, endSeconds }) => sum + (endSeconds ?? record.nowSeconds) - startSeconds,
        0,
      ),
      abandonedBits: tries.reduce((sum, one) => (one === last ? sum : sum + one.receivedBits), 0),
      reason: decision?.reason ?? '',
    };
  });
  const rowsStall = segments.reduce((sum, { stallSeconds }) => sum + stallSeconds, 0);
  const totals = sessionTotals(
    {
      segments,
      startupSeconds: record.startupSoFarSeconds,
      stallCount: record.stalls.length,
      // Of a stall that still lasts the segment has not come.
      unfinishedStallSeconds: record.stallSeconds - rowsStall,
    },
    scenario,
  );
  // A session that the viewer stopped was cut off.
  return { ...identity, endedBy: record.endedBy ?? 'cutoff', segments, ...totals };
}
