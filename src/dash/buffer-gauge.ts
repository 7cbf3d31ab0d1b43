/** How much video is buffered at this very moment; dash.js's own figure is as old as its last event. */

import { type DashPlayer, listen } from './player.ts';

/** Gaps up to this are played over. */
const GAP_SECONDS = 0.5;

interface BufferLevelEvent {
  mediaType?: string;
  streamId?: string;
  bufferLevel: number;
}

export class BufferGauge {
  readonly #player: DashPlayer;
  readonly #readings = new Map<string, { levelSeconds: number; playheadSeconds: number }>();
  readonly #stop: () => void;

  constructor(player: DashPlayer, guard: (handler: () => void) => void) {
    this.#player = player;
    this.#stop = listen<BufferLevelEvent>(player, 'bufferLevelUpdated', (event) => guard(() => this.#read(event)));
  }

  /** Seconds of video ahead of the playhead as the buffer of this period counts them; >= 0. */
  levelSeconds(streamId: string): number {
    const reading = this.#readings.get(streamId);
    if (reading === undefined) return 0;
    const playedSeconds = this.playheadSeconds() - reading.playheadSeconds;
    return Math.max(0, reading.levelSeconds - Math.max(0, playedSeconds));
  }

  /** Seconds that can be played on from here, over the ends of periods too; >= 0. */
  playableSeconds(): number {
    const element = this.#element();
    if (element === undefined) return 0;
    const { buffered, currentTime } = element;
    let end = currentTime;
    for (let i = 0; i < buffered.length; i++) {
      if (buffered.start(i) <= end + GAP_SECONDS && buffered.end(i) > end) end = buffered.end(i);
    }
    return end - currentTime;
  }

  playheadSeconds(): number {
    return this.#element()?.currentTime ?? 0;
  }

  /** The viewer jumped or another source was attached: earlier readings are void. */
  forget(): void {
    this.#readings.clear();
  }

  stop(): void {
    this.#stop();
  }

  #read({ mediaType, streamId, bufferLevel }: BufferLevelEvent): void {
    if (mediaType !== 'video' || streamId === undefined || !(bufferLevel >= 0)) return;
    this.#readings.set(streamId, { levelSeconds: bufferLevel, playheadSeconds: this.playheadSeconds() });
  }

  #element(): HTMLMediaElement | undefined {
    try {
      return this.#player.getVideoElement();
    } catch {
      // dash.js throws while no element is attached.
      return undefined;
    }
  }
}
