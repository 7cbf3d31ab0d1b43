/** What happened in a session, on its clock, which begins with the first request for media. Pure. */

import type { Decision, Forecast } from 'leo-abr';
import { freezeCounts, perceivedQoe } from '../../abr/qoe/session-qoe.ts';
import { totalSeconds } from '../../replay/browser/record/segment-rows.ts';
import type { PositionRecord, RequestNote, StallRecord } from '../../replay/browser/record/session-record.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { qualitiesOf } from '../../replay/segment-qualities.ts';
import type { ExpectedHandover } from './handovers.ts';

/** A request for a segment. An abandoned segment has several requests. */
export type DownloadNote = Omit<RequestNote, 'representationId'>;

/** A decision. The plugin's decisions have all fields; decisions of a player's own ABR have only the reason. */
export interface DecisionNote extends Partial<Omit<Decision, 'representation'>> {
  atSeconds: number;
  /** `decide`: before the request for a segment. `abandon`: during a download. */
  kind: 'decide' | 'abandon';
  segmentIndex: number;
  bitrateBps: number;
  previousBitrateBps: number | undefined;
  bufferLevelSeconds: number;
  reason: string;
  forecast?: Forecast | undefined;
}

/** The pace of a live stream that the controller has chosen, from `atSeconds` on. */
export interface PaceNote {
  atSeconds: number;
  playbackRate: number;
  reason: string;
}

/** A stall. `endSeconds` is undefined while the stall lasts. */
export type StallNote = Omit<StallRecord, 'endSeconds'> & { endSeconds: number | undefined };

export interface PlaybackSample {
  atSeconds: number;
  bufferSeconds: number;
  /** Bitrate of the picture on the screen; undefined before the first picture moves. */
  shownBitrateBps?: number | undefined;
  /** Time since the capture of the picture on the screen, if the stream is live and a picture has moved. */
  latencySeconds?: number;
}

export class SessionRecord {
  readonly decisions: DecisionNote[] = [];
  /** Changes of the rate or of the target latency of a live stream. */
  readonly paces: PaceNote[] = [];
  readonly samples: PlaybackSample[] = [];
  /** The handovers that the controller expected, in order. */
  readonly handovers: ExpectedHandover[] = [];
  stalls: readonly StallNote[] = [];
  /** Startup delay; undefined before the first picture moves. */
  startupSeconds: number | undefined;
  /** The current time, or the end of a session that is over. */
  nowSeconds = 0;
  /** Segments whose playback has begun. */
  shownSegments = 0;
  shownBitrateBps: number | undefined;
  /** From each position the playhead moves at its rate until the next position, except in stalls. */
  positions: PositionRecord[] = [];
  hasEnded = false;

  constructor(readonly downloads: DownloadNote[] = []) {}

  get isStalled(): boolean {
    return this.stalls.some(({ endSeconds }) => endSeconds === undefined);
  }

  get stallSeconds(): number {
    return totalSeconds(this.stallsSoFar);
  }

  /** Freezes that viewers see. */
  get freezeCount(): number {
    return freezeCounts(this.stallsSoFar).freezeCount;
  }

  get stallsSoFar(): StallRecord[] {
    return this.stalls.map((stall) => ({ ...stall, endSeconds: stall.endSeconds ?? this.nowSeconds }));
  }

  get startupSoFarSeconds(): number {
    return this.startupSeconds ?? this.nowSeconds;
  }

  /** The last complete download of each segment, because hls.js may load a segment again. */
  get segments(): DownloadNote[] {
    const complete = this.downloads.filter(({ outcome }) => outcome === 'complete');
    const last = new Map(complete.map((download) => [download.index, download]));
    return [...last.values()].sort((a, b) => a.index - b.index);
  }
}

/** The data that a player has used, and per hour of the video that it has: abandoned downloads cost, too. */
export function dataOf({ downloads, segments }: SessionRecord, { segmentSeconds }: Scenario) {
  const sum = (all: readonly DownloadNote[]) => all.reduce((bits, { receivedBits }) => bits + receivedBits, 0);
  const ended = sum(downloads.filter(({ outcome }) => outcome !== 'active'));
  const hours = (segments.length * segmentSeconds) / 3600;
  return { bits: sum(downloads), bitsPerHour: hours > 0 ? ended / hours : undefined };
}

export type Seen = NonNullable<ReturnType<typeof seenSoFar>>;

/**
 * Returns what a viewer has seen: the mean quality of the segments whose playback has begun, and perceived QoE, up to
 * 100; undefined before the first picture moves.
 */
export function seenSoFar(record: SessionRecord, scenario: Scenario) {
  const { startupSeconds, stallsSoFar: stalls, shownSegments } = record;
  const shown = record.segments.slice(0, Math.max(1, shownSegments));
  if (startupSeconds === undefined || shown.length === 0) return undefined;
  const qualities = qualitiesOf(shown, scenario);
  const latencies = record.samples.flatMap(({ latencySeconds }) => latencySeconds ?? []);
  const { segmentSeconds } = scenario;
  return {
    quality: qualities.reduce((sum, one) => sum + one, 0) / qualities.length,
    /** Mean latency behind live; NaN on demand. */
    latencySeconds: latencies.reduce((sum, one) => sum + one, 0) / latencies.length,
    perceived: perceivedQoe({ qualities, segmentSeconds, startupSeconds, stalls }),
  };
}

/** Returns the quality of a rung of the scenario's ladder, 0 to 100. */
export function qualityOf(bitrateBps: number, scenario: Scenario): number {
  return qualitiesOf([{ index: 0, bitrateBps }], scenario)[0]!;
}

/** Viewers hardly see a smaller difference in quality or perceived QoE, each at most 100. */
export const LEAST_LEAD = 2;
/** A player with more additional latency is not ahead. */
const MOST_MORE_LATENCY_SECONDS = 0.15;

/** Whether a player is ahead of each other player. */
export function isAhead(own: Seen | undefined, others: readonly (Seen | undefined)[]): boolean {
  return (
    own !== undefined &&
    others.length > 0 &&
    others.every(
      (other) =>
        other !== undefined &&
        own.perceived - other.perceived >= LEAST_LEAD &&
        !(own.latencySeconds - other.latencySeconds > MOST_MORE_LATENCY_SECONDS),
    )
  );
}
