/** What happened in one session, on its clock: since its first (media) request. Pure. */

import type { Decision, Forecast } from 'leo-abr';
import { perceivedQoe } from '../../abr/qoe/perceived-qoe.ts';
import { totalSeconds } from '../../replay/browser/record/segment-rows.ts';
import type { PositionRecord, RequestNote, StallRecord } from '../../replay/browser/record/session-record.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { qualitiesOf } from '../../replay/segment-qualities.ts';
import type { ExpectedHandover } from './handovers.ts';

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
  /** The bitrate of the picture on screen, once a picture has moved. */
  shownBitrateBps?: number | undefined;
  /** Only live, once a picture has moved: from the capture of the picture on screen to the sample. */
  latencySeconds?: number;
}

export class SessionRecord {
  readonly decisions: DecisionNote[] = [];
  /** Only live: each change of the rate or of the target latency. */
  readonly paces: PaceNote[] = [];
  readonly samples: PlaybackSample[] = [];
  /** The handovers that the controller planned with, in order. */
  readonly handovers: ExpectedHandover[] = [];
  stalls: readonly StallNote[] = [];
  /** Startup delay; undefined before the first picture moves. */
  startupSeconds: number | undefined;
  /** Now, or the last second of a session that is over. */
  nowSeconds = 0;
  /** Segments whose playback has begun. */
  shownSegments = 0;
  shownBitrateBps: number | undefined;
  /** The playhead moves on from each at its rate until the next one, except in stalls. */
  positions: PositionRecord[] = [];
  hasEnded = false;

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

/** What a viewer has seen: mean quality of the segments whose playback has begun, and perceived QoE. */
export interface Seen {
  /** 0 to 100. */
  quality: number;
  perceived: number;
}

/** Undefined before the first picture moves. */
export function seenSoFar(record: SessionRecord, scenario: Scenario): Seen | undefined {
  const { startupSeconds, stalls, stallSeconds, shownSegments } = record;
  const shown = record.segments.slice(0, Math.max(1, shownSegments));
  if (startupSeconds === undefined || shown.length === 0) return undefined;
  const qualities = qualitiesOf(shown, scenario);
  const { segmentSeconds } = scenario;
  return {
    quality: qualities.reduce((sum, one) => sum + one, 0) / qualities.length,
    perceived: perceivedQoe({ qualities, segmentSeconds, startupSeconds, stallSeconds, stallCount: stalls.length }),
  };
}

/** Quality of a rung of the scenario's ladder, 0 to 100. */
export function qualityOf(bitrateBps: number, scenario: Scenario): number {
  return qualitiesOf([{ index: 0, bitrateBps }], scenario)[0]!;
}
