/** The current playback and buffer level; dash.js's own figure is as old as its last event. */

import type { DashPlayer } from './player.ts';

/** dash.js jumps over gaps up to this. */
const GAP_SECONDS = 0.5;

export interface BufferLevelEvent {
  mediaType?: string;
  streamId?: string;
  bufferLevel: number;
}

export interface BufferGauge {
  /** dash.js has cut its buffer targets, because the source buffer was full. */
  isQuotaExceeded: boolean;
  element(): HTMLMediaElement | undefined;
  playheadSeconds(): number;
  /** Buffer level of this period, in seconds of video ahead of the playhead; >= 0. */
  levelSeconds(streamId: string): number;
  /** Seconds until playback would stall, across periods; >= 0. */
  playableSeconds(): number;
  /** The element's playback rate, > 0, and whether it is paused. */
  playback(): { playbackRate: number; isPaused: boolean };
  /** Drops earlier readings, after a seek or with another source. */
  forget(): void;
  /** dash.js has measured the buffer. */
  update(event: BufferLevelEvent): void;
}

export function bufferGauge(player: DashPlayer): BufferGauge {
  const readings = new Map<string | undefined, { levelSeconds: number; playhead: number }>();
  const element = (): HTMLMediaElement | undefined => {
    try {
      return player.getVideoElement();
    } catch {
      // dash.js throws while no element is attached.
      return undefined;
    }
  };
  const playheadSeconds = () => element()?.currentTime ?? 0;
  return {
    isQuotaExceeded: false,
    element,
    playheadSeconds,
    levelSeconds(streamId) {
      const reading = readings.get(streamId);
      if (reading === undefined) return 0;
      return Math.max(0, reading.levelSeconds - Math.max(0, playheadSeconds() - reading.playhead));
    },
    playableSeconds() {
      const buffered = element()?.buffered;
      const start = playheadSeconds();
      let end = start;
      for (let i = 0; i < (buffered?.length ?? 0); i++) {
        if (buffered!.start(i) <= end + GAP_SECONDS) end = Math.max(end, buffered!.end(i));
      }
      return end - start;
    },
    playback() {
      const { playbackRate, paused = false }: Partial<HTMLMediaElement> = element() ?? {};
      // dash.js can set a rate of 0 while it stalls.
      return { playbackRate: playbackRate || 1, isPaused: paused };
    },
    forget: () => readings.clear(),
    update({ mediaType, streamId, bufferLevel }) {
      if (mediaType === 'video') readings.set(streamId, { levelSeconds: bufferLevel, playhead: playheadSeconds() });
    },
  };
}
