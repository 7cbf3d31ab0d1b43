/** The current playback and buffer level; dash.js's own figure is as old as its last event. */

import { isPaused } from '../paused.ts';
import type { DashPlayer } from './player.ts';

/** dash.js jumps over gaps up to this. */
const GAP_SECONDS = 0.5;

export interface BufferLevelEvent {
  mediaType?: string;
  streamId?: string;
  bufferLevel: number;
}

export class BufferGauge {
  /** dash.js has cut its buffer targets, because the source buffer was full. */
  isQuotaExceeded = false;
  private readonly _readings = new Map<string | undefined, { levelSeconds: number; playhead: number }>();

  constructor(private readonly _player: DashPlayer) {}

  element(): HTMLMediaElement | undefined {
    try {
      return this._player.getVideoElement();
    } catch {
      // dash.js throws while no element is attached.
      return undefined;
    }
  }

  playheadSeconds(): number {
    return this.element()?.currentTime || 0;
  }

  /** Buffer level of this period, in seconds of video ahead of the playhead; >= 0. */
  levelSeconds(streamId: string, playhead = this.playheadSeconds()): number {
    const reading = this._readings.get(streamId);
    if (reading === undefined) return 0;
    return Math.max(0, reading.levelSeconds - Math.max(0, playhead - reading.playhead));
  }

  /** Where the element is, in seconds of the presentation, and how it plays. */
  playback(): { playhead: number; playableSeconds: number; playbackRate: number; isPaused: boolean } {
    const element = this.element();
    const { currentTime, buffered, playbackRate }: Partial<HTMLMediaElement> = element || {};
    const playhead = currentTime || 0;
    let end = playhead;
    for (let i = 0; i < (buffered?.length || 0); i++) {
      if (buffered!.start(i) <= end + GAP_SECONDS) end = Math.max(end, buffered!.end(i));
    }
    return {
      playhead,
      // Until playback would stall, across periods.
      playableSeconds: end - playhead,
      // dash.js can set a rate of 0 while it stalls.
      playbackRate: playbackRate || 1,
      isPaused: isPaused(element),
    };
  }

  /** Drops earlier readings, after a seek or with another source. */
  forget(): void {
    this._readings.clear();
  }

  /** dash.js has measured the buffer. */
  update({ mediaType, streamId, bufferLevel }: BufferLevelEvent): void {
    if (mediaType !== 'video') return;
    this._readings.set(streamId, { levelSeconds: bufferLevel, playhead: this.playheadSeconds() });
  }
}
