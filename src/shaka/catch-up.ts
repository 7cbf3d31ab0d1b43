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
  private _pageSync: LiveSync | undefined;

  constructor(
    options: { readonly live: LiveOptions },
    private readonly _player: ShakaPlayer,
    private readonly _live: LiveStream,
    protected readonly element: () => HTMLMediaElement | undefined,
  ) {
    super(options);
  }

  protected nowSeconds(): number | undefined {
    return this._live.time()?.nowSeconds;
  }

  protected turnOff(rate: number): void {
    if (!this._pageSync) {
      this._pageSync = this._liveSync();
      this._player.configure({ streaming: { liveSync: UNSYNCHRONISED } });
    }
    this._setDefault(rate);
  }

  protected restore(): void {
    this._player.configure({ streaming: { liveSync: this._pageSync } });
    this._pageSync = undefined;
    this._setDefault(1);
  }

  /** The rate is the plugin's where Shaka would synchronise, and where an option sets its bounds. */
  position(): LivePosition | undefined {
    const time = this._live.time();
    if (!time) return undefined;
    const { options } = this;
    const liveSync = this._pageSync || this._liveSync();
    const { description } = this._live;
    const joinedSeconds = this._live.joinedSeconds(time.nowSeconds);
    const playersTarget = liveSync.enabled
      ? joinedSeconds + liveSync.targetLatency
      : (description?.targetLatency ?? joinedSeconds);
    const { targetLatencySeconds: targetSeconds = playersTarget, minPlaybackRate, maxPlaybackRate } = options.live;
    const latencySeconds = time.nowSeconds - (this.element()?.currentTime || 0);
    return {
      ...time,
      // Playback has not begun at 0 s, except in a stream that has just begun.
      latencySeconds: this.element()?.currentTime ? latencySeconds : Math.min(latencySeconds, targetSeconds),
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

  private _liveSync(): LiveSync {
    return this._player.getConfiguration().streaming.liveSync;
  }

  /** The rate that Shaka sets after a stall and in each second of playback. */
  private _setDefault(rate: number): void {
    const media = this.element();
    if (media) media.defaultPlaybackRate = rate;
  }
}
