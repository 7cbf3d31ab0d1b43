/** Shaka's synchronisation at the live edge: how it may play, and the plugin's rate in its place. */

import type { LiveOptions } from '../../session/page/option-types.ts';
import type { LivePosition } from '../../session/player-port.ts';
import { ElementRate } from '../element-rate.ts';
import type { LiveStream } from './live.ts';
import type { ShakaPlayer } from './player.ts';

type LiveSync = ReturnType<ShakaPlayer['getConfiguration']>['streaming']['liveSync'];

/** `liveSync` in place of the page's and the stream's: without rates, Shaka only returns to the element's default rate. */
const UNSYNCHRONISED = { enabled: true, panicMode: false, minPlaybackRate: 0, maxPlaybackRate: 0 };

export class CatchUp extends ElementRate {
  /** `liveSync` of the page, while the rate is the plugin's. */
  #pageSync: LiveSync | undefined;

  constructor(
    options: { readonly live: LiveOptions },
    private readonly player: ShakaPlayer,
    private readonly live: LiveStream,
    protected readonly element: () => HTMLMediaElement | undefined,
  ) {
    super(options);
  }

  protected nowSeconds(): number | undefined {
    return this.live.time()?.nowSeconds;
  }

  protected turnOff(rate: number): void {
    if (!this.#pageSync) {
      this.#pageSync = this.#liveSync();
      this.player.configure({ streaming: { liveSync: UNSYNCHRONISED } });
    }
    this.#setDefault(rate);
  }

  protected restore(): void {
    this.player.configure({ streaming: { liveSync: this.#pageSync } });
    this.#pageSync = undefined;
    this.#setDefault(1);
  }

  /** The rate is the plugin's where Shaka would synchronise, and where an option sets its bounds. */
  position(): LivePosition | undefined {
    const time = this.live.time();
    if (!time) return undefined;
    const { player, options } = this;
    const liveSync = this.#pageSync ?? this.#liveSync();
    const { description } = this.live;
    const joinedSeconds = time.nowSeconds - player.seekRange().end;
    const playersTarget = liveSync.enabled
      ? joinedSeconds + liveSync.targetLatency
      : (description?.targetLatency ?? joinedSeconds);
    const { targetLatencySeconds: target, minPlaybackRate, maxPlaybackRate } = options.live;
    const targetSeconds = typeof target === 'number' ? target : playersTarget;
    const playhead = this.element()?.currentTime;
    return {
      ...time,
      latencySeconds: playhead ? time.nowSeconds - playhead : targetSeconds,
      targetLatencySeconds: targetSeconds,
      ...this.within({
        isPaceable: Boolean(
          liveSync.enabled || liveSync.panicMode || description || minPlaybackRate || maxPlaybackRate,
        ),
        playbackRates: {
          min: description?.minPlaybackRate || liveSync.minPlaybackRate,
          max: description?.maxPlaybackRate || liveSync.maxPlaybackRate,
        },
        maxLatencySeconds: Math.max(description?.maxLatency ?? Number.POSITIVE_INFINITY, targetSeconds),
        targetSeconds,
      }),
    };
  }

  #liveSync(): LiveSync {
    return this.player.getConfiguration().streaming.liveSync;
  }

  /** The rate that Shaka sets after a stall. */
  #setDefault(rate: number): void {
    const media = this.element();
    if (media) media.defaultPlaybackRate = rate;
  }
}
