/** The interface of a player in the benchmark's page and in the demo. */

import type { LeoAbrHandle, LeoAbrOptions } from 'leo-abr';
import type { Tools } from '../../../session/assemble.ts';
import type { SessionConfig } from '../record/session-record.ts';
import type { RequestRecorder } from './request-recorder.ts';

export interface TestPlayer {
  version: string;
  /** Lets the plugin decide, with the page's options. Call it before `start`. */
  attach(options: LeoAbrOptions, tools: Tools): LeoAbrHandle;
  start(): void;
  /** Returns `video-<n>` for an id in the plugin's decisions. Default: the same id. */
  representationId?(id: string): string;
  /** The player's own live latency, if it counts from the capture as the benchmark does. */
  latencySeconds?(): number;
  /** Stops loading; the picture stays. */
  rest(): void;
  /** Frees the element for another player. Works before `start`, too. */
  destroy(): void | Promise<void>;
}

export interface PlayerContext {
  config: Pick<SessionConfig, 'scenario' | 'algorithm' | 'sessionUrl'>;
  video: HTMLVideoElement;
  requests: Pick<RequestRecorder, 'started' | 'received' | 'responded' | 'ended'>;
  /** Ends the session. */
  onFault(message: string): void;
  /** The browser wants a click before it plays. Default: a fault. */
  onNotAllowed?(): void;
}

/** Plays the element. If `play()` rejects, nothing plays. */
export function playElement({ video, onFault, onNotAllowed }: PlayerContext): void {
  video.play().catch((error: DOMException) => {
    if (error.name === 'NotAllowedError' && onNotAllowed) onNotAllowed();
    else onFault(`play(): ${error}`);
  });
}

/** Longer than any outage of a trace. */
export const REQUEST_TIMEOUT_MS = 15 * 60_000;
export const BUFFER_BEHIND_SECONDS = 4;

/** Buffer goal of hls.js and Shaka Player. The scenario's buffer, as dash.js counts it, holds the next segment too. */
export function bufferGoalSeconds({ bufferCapSeconds, segmentSeconds }: SessionConfig['scenario']): number {
  return bufferCapSeconds - segmentSeconds;
}

export function estimateText(player: string, throughputBps: number): string {
  return `${player} gives no reason; it estimates ${(throughputBps / 1e6).toFixed(1)} Mbit/s`;
}
