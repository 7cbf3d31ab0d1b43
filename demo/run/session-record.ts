/** What all views read of a player's session, on its clock: since its first (media) request. Pure. */

import type { Decision, Forecast } from 'leo-abr';
import { type QoeBreakdown, qoeWeights, sessionQoe } from '../../abr/qoe/qoe.ts';
import { playbackHistory } from '../../replay/browser/record/playback-history.ts';
import { segmentRows, totalSeconds } from '../../replay/browser/record/segment-rows.ts';
import type { PositionRecord, RequestNote, StallRecord } from '../../replay/browser/record/session-record.ts';
import type { AnnouncedHandover, MomentSession } from '../../replay/evaluation/figures/handover-moment.ts';
import { liveMetrics } from '../../replay/evaluation/figures/live-metrics.ts';
import type { LiveMetrics, SessionResult } from '../../replay/results.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { sessionTotals } from '../../replay/simulator/session-result.ts';

/** One request for a segment; an abandoned segment has several. */
export type DownloadNote = Omit<RequestNote, 'representationId'>;

/** A decision with what the plugin tells of it; of a player's own ABR only the reason. */
export interface DecisionNote extends Partial<Omit<Decision, 'representation'>> {
  atSeconds: number;
  /** `decide` before a segment's request, `abandon` during one. */
  kind: 'decide' | 'abandon';
  segmentIndex: number;
  bitrateBps: number;
  previousBitrateBps: number | undefined;
  bufferLevelSeconds: number;
  reason: string;
  forecast?: Forecast | undefined;
}

export const FIRST_MINUTE_SECONDS = 60;

/** How a live stream plays from then on, as the controller wants it. */
export interface PaceNote {
  atSeconds: number;
  playbackRate: number;
  reason: string;
}

/** `endSeconds` is undefined while it lasts. */
export type StallNote = Omit<StallRecord, 'endSeconds'> & { endSeconds: number | undefined };

export interface PlaybackSample {
  atSeconds: number;
  bufferSeconds: number;
  /** Of a live stream once a picture has moved: from the capture of the picture on screen to the sample. */
  latencySeconds?: number;
  playbackRate?: number;
}

export class SessionRecord {
  readonly decisions: DecisionNote[] = [];
  /** Of a live stream: each change of the rate or of the target latency. */
  readonly paces: PaceNote[] = [];
  readonly samples: PlaybackSample[] = [];
  /** The handovers that the controller planned with, in order. */
  readonly handovers: AnnouncedHandover[] = [];
  stalls: readonly StallNote[] = [];
  /** Startup delay; undefined before the first picture moves. */
  startupSeconds: number | undefined;
  /** Now, or the last second of a session that is over. */
  nowSeconds = 0;
  /** Segments whose playback has begun. */
  shownSegments = 0;
  shownBitrateBps: number | undefined;
  /** Seeks after the first picture. */
  jumps = 0;
  /** The playhead moves on from each at its rate until the next one, except in stalls. */
  positions: PositionRecord[] = [];
  /** The QoE so far, when the first minute was over. */
  firstMinuteQoe: number | undefined;
  endedBy: SessionResult['endedBy'] | undefined;

  constructor(readonly downloads: DownloadNote[] = []) {}

  get isStalled(): boolean {
    return this.stalls.some(({ endSeconds }) => endSeconds === undefined);
  }

  get stallSeconds(): number {
    return totalSeconds(this.stallsSoFar);
  }

  get stallsSoFar(): StallRecord[] {
    return this.stalls.map((stall) => ({ ...stall, endSeconds: stall.endSeconds ?? this.nowSeconds }));
  }

  /** What the player did, in the form in which moments are looked for. */
  get played(): MomentSession {
    return { stalls: this.stallsSoFar, rates: this.positions, requests: this.downloads };
  }

  get startupSoFarSeconds(): number {
    return this.startupSeconds ?? this.nowSeconds;
  }

  /** Complete downloads: the last one of each segment, because hls.js may load one again. */
  get segments(): DownloadNote[] {
    const complete = this.downloads.filter(({ outcome }) => outcome === 'complete');
    const last = new Map(complete.map((download) => [download.index, download]));
    return [...last.values()].sort((a, b) => a.index - b.index);
  }
}

/** Throughput of a download since its request; undefined in its first 0.1 s and for a failed one. */
export function measuredBps(download: DownloadNote, nowSeconds: number): number | undefined {
  const seconds = (download.endedAtSeconds ?? nowSeconds) - download.requestedAtSeconds;
  return seconds >= 0.1 && download.outcome !== 'failed' ? download.receivedBits / seconds : undefined;
}

/** QoE-linear of the media shown so far, with its parts; undefined before the first segment is complete. */
export function linearSoFar(record: SessionRecord, scenario: Scenario): QoeBreakdown | undefined {
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

/** The QoE so far: QoE-linear, of a live stream LoL+'s. Undefined before the first segment is complete. */
export function qoeSoFar(record: SessionRecord, scenario: Scenario): number | undefined {
  return record.segments.length === 0 ? undefined : (liveSoFar(record, scenario) ?? linearSoFar(record, scenario))?.qoe;
}

/** What a viewer of a live stream has experienced so far; undefined on demand, and before the session's start. */
export function liveSoFar(record: SessionRecord, scenario: Scenario): LiveMetrics | undefined {
  const { live, segmentSeconds, ladderBps } = scenario;
  const { positions, jumps, nowSeconds, segments } = record;
  if (live === undefined || nowSeconds === 0) return undefined;
  return liveMetrics({
    history: playbackHistory({ stalls: record.stallsSoFar, live: { positions, endSeconds: nowSeconds } }, live),
    bitratesBps: segments.slice(0, Math.max(1, record.shownSegments)).map(({ bitrateBps }) => bitrateBps),
    segmentSeconds,
    ladderBps,
    jumps,
  });
}

/** The session, with its complete segments, in the form of the benchmark's results. */
export function sessionResult(
  record: SessionRecord,
  about: Pick<SessionResult, 'trace' | 'dataset' | 'group' | 'startSeconds' | 'algorithm' | 'seed'> & {
    scenario: Scenario;
  },
): SessionResult {
  const { scenario, ...identity } = about;
  const { decisions, downloads: requests, stallsSoFar: stalls } = record;
  const segments = segmentRows({ requests, stalls }, scenario, ({ index, endedAtSeconds, receivedBits }) => {
    const isOf = (one: DecisionNote) => one.segmentIndex === index && one.atSeconds <= endedAtSeconds!;
    return { sizeBits: receivedBits, reason: decisions.findLast(isOf)?.reason ?? '' };
  });
  const rowsStall = segments.reduce((sum, { stallSeconds }) => sum + stallSeconds, 0);
  const totals = sessionTotals(
    {
      segments,
      startupSeconds: record.startupSoFarSeconds,
      stallCount: record.stalls.length,
      // The stall before a segment that is not complete yet has no row.
      unfinishedStallSeconds: record.stallSeconds - rowsStall,
    },
    scenario,
  );
  const live = liveSoFar(record, scenario);
  return { ...identity, endedBy: record.endedBy ?? 'cutoff', segments, ...totals, ...(live && { live }) };
}
