/** What the page needs of a player under test. */

import type { LeoAbrHandle, LeoAbrOptions } from 'leo-abr/live';
import type { SessionConfig } from '../session-record.ts';
import type { RequestRecorder } from './request-recorder.ts';
import type { TraceClock } from './trace-clock.ts';

export interface TestPlayer {
  version: string;
  /** Lets the plugin decide, with the page's options. Call it before `start`. */
  attach(options: LeoAbrOptions): LeoAbrHandle;
  /** Loads the session's stream and plays it. */
  start(): void;
  /** `video-<n>` of an id in the plugin's decisions. Default: the same. */
  representationId?(id: string): string;
  /** The player's own figure, if it counts from the capture as the benchmark does. */
  latencySeconds?(): number;
  destroy(): void;
}

/** Where a player reports. */
export interface PlayerContext {
  config: SessionConfig;
  video: HTMLVideoElement;
  requests: RequestRecorder;
  clock: TraceClock;
  /** Ends the session. */
  onFault(message: string): void;
}

/** Longer than any outage of a trace. */
export const REQUEST_TIMEOUT_MS = 15 * 60_000;
/** Played media that stays in the buffer. */
export const BUFFER_BEHIND_SECONDS = 4;

/**
 * The level up to which hls.js and Shaka Player request segments. The scenario's buffer holds the next segment too, as
 * dash.js counts it.
 */
export function bufferGoalSeconds({ bufferCapSeconds, segmentSeconds }: SessionConfig['scenario']): number {
  return bufferCapSeconds - segmentSeconds;
}
