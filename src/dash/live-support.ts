/** Live streams in dash.js: their time and pace, and what their requests tell. */

import type { FragmentRequest, PlaybackController, Representation, StreamInfo } from 'dashjs';
import type { Flow } from '../../session/flow.ts';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { LiveMedia, LivePosition, Period } from '../../session/player-port.ts';
import { ChunkCounter } from '../chunk-counter.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import { CatchUp } from './catch-up.ts';
import { LiveClock, type TimeOffsetEvent } from './live.ts';
import { type DashPlayer, segmentDuration } from './player.ts';
import { overrideSettings } from './settings.ts';

export interface RequestEvent {
  request: FragmentRequest;
  /** The body; in low-latency mode, the part that arrived since the last event. */
  response?: ArrayBuffer | null;
  error?: unknown;
}

/** dash.js's request before it is sent. It reads a body in parts with `reader`, which it sets at the response. */
export interface CustomData {
  request?: FragmentRequest;
  reader?: ReadableStreamDefaultReader<Uint8Array>;
}

interface MetricEvent {
  metric: string;
  value: { url?: string; responsecode?: number };
}

export class LiveSupport {
  readonly rate: CatchUp;
  private readonly _clock: LiveClock;
  /** The latest media request by media type. */
  private readonly _latest = new Map<string, FragmentRequest>();
  private _target: unknown;
  restoreTarget = () => {};

  constructor(
    private readonly _options: { readonly live: LiveOptions },
    private readonly _player: DashPlayer,
    private readonly _gauge: BufferGauge,
  ) {
    this._clock = new LiveClock(_player, _gauge);
    this.rate = new CatchUp(_options, _player, { gauge: _gauge, clock: this._clock });
  }

  /** For dash.js's events. */
  handlers(flow: Flow) {
    return {
      updateTimeSyncOffset: (event: TimeOffsetEvent) => this._clock.synchronised(event),
      // dash.js retries without another event of its own.
      metricAdded: ({ metric, value }: MetricEvent) => {
        if (metric !== 'HttpList' || !(value.responsecode! >= 400)) return;
        for (const request of this._latest.values())
          if (request.url === value.url) flow.progressed(request, { attempt: 'too-early' });
      },
      // Low-latency mode: whole chunks, whose bytes have been read before.
      fragmentLoadingProgress: ({ request, response }: RequestEvent) =>
        flow.progressed(request, { chunks: response ? new ChunkCounter().endedIn(response) : 0 }),
    };
  }

  /** The media of a request; undefined on demand. */
  media(request: FragmentRequest): LiveMedia | undefined {
    const { mediaType, representation, startTime, duration } = request;
    this._latest.set(mediaType, request);
    const time = this._clock.time(representation!.mediaInfo!.streamInfo!, representation!);
    return time && { ...time, startSeconds: startTime, segmentSeconds: duration };
  }

  /** A segment's index in its period; undefined on demand. dash.js counts from the oldest segment that is still listed. */
  indexOf({ representation, startTime }: FragmentRequest, { startSeconds }: Period): number | undefined {
    if (!representation!.mediaInfo!.streamInfo!.manifestInfo.isDynamic) return undefined;
    return Math.round((startTime - startSeconds) / segmentDuration(representation!));
  }

  /** The position in the live stream; undefined on demand. */
  position(
    stream: StreamInfo,
    representation: Representation,
    playback: PlaybackController | undefined,
  ): LivePosition | undefined {
    const time = this._clock.time(stream, representation);
    if (!time) return undefined;
    const targetLatencySeconds = playback?.getLiveDelay?.() || 0;
    // Before the first picture, of a stream that has just begun.
    const begunSeconds = time.nowSeconds - this._gauge.playheadSeconds();
    const latencySeconds = this._clock.latencySeconds() ?? Math.min(begunSeconds, targetLatencySeconds);
    return { ...time, latencySeconds, targetLatencySeconds, ...this.rate.limits(stream, playback) };
  }

  /** The options have changed. At each change of its setting, dash.js forgets a latency that the viewer chose. */
  targetChanged(): void {
    if (this._options.live.targetLatencySeconds !== this._target) this.setTarget();
  }

  setTarget(): void {
    this.restoreTarget();
    this._target = this._options.live.targetLatencySeconds;
    const wanted = this._target ? ([['delay.liveDelay', this._target]] as const) : [];
    this.restoreTarget = overrideSettings(this._player, wanted);
  }

  forget(): void {
    this._clock.forget();
  }
}

/** Sees the bytes of a low-latency body before dash.js does: its own events come with whole chunks only. */
export function watchReader(customData: CustomData, received: (bytes: number) => void): void {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  Object.defineProperty(customData, 'reader', {
    configurable: true,
    get: () => reader,
    set(original: ReadableStreamDefaultReader<Uint8Array>) {
      const nativeRead = original.read.bind(original);
      reader = Object.assign(original, {
        read() {
          const part = nativeRead();
          part.then(
            ({ value }) => received(value?.length || 0),
            () => {},
          );
          return part;
        },
      });
    },
  });
}
