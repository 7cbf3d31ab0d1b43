/** Live streams in dash.js: their time and target, what their requests tell, and the playback rate. */

import type { FragmentRequest, PlaybackController, Representation, StreamInfo, StreamProcessor } from 'dashjs';
import type { Flow } from '../../session/flow.ts';
import { attempt } from '../../session/page/events.ts';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { LiveMedia, LivePosition, LiveTime } from '../../session/player-port.ts';
import { ChunkCounter } from '../chunk-counter.ts';
import { ElementRate, type LiveLimits } from '../element-rate.ts';
import { type BufferGauge, type DashPlayer, isLive, setting } from './player.ts';
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
  /** Only in the copy that dash.js sends with CMCD. */
  cmcd?: object;
  /** Set when it is sent. */
  abort?(): void;
  onloadend?: unknown;
}

interface MetricEvent {
  metric: string;
  value: { url?: string; responsecode?: number };
}

export class LiveSupport {
  readonly rate: CatchUp;
  /** To add to the device's clock, in ms. */
  private _offsetMs: number | undefined;
  /** The latest requests, by media type. */
  readonly sent = new Map<string, CustomData>();
  private _target: unknown;
  restoreTarget = () => {};

  constructor(
    private readonly _options: { readonly live: LiveOptions },
    private readonly _player: DashPlayer,
    private readonly _gauge: BufferGauge,
  ) {
    this.rate = new CatchUp(_options, _player, { gauge: _gauge, latencySeconds: () => this._latencySeconds() });
  }

  /** For dash.js's events. */
  handlers(flow: Flow) {
    return {
      // dash.js has compared the device's clock with the stream's. NaN: the comparison failed.
      updateTimeSyncOffset: ({ offset }: { offset: number }) => {
        if (Number.isFinite(offset)) this._offsetMs = offset;
      },
      // dash.js pauses before its next attempt, on demand too, without another event of its own. Without an answer (status 0,
      // as of an abort), the link may be down, so the pause counts as an outage.
      metricAdded: ({ metric, value }: MetricEvent) => {
        if (metric !== 'HttpList' || !(value.responsecode! >= 400)) return;
        for (const { request } of this.sent.values())
          if (request!.url === value.url) flow.progressed(request!, { attempt: 'later' });
      },
      // Low-latency mode: whole chunks, whose bytes have been read before.
      fragmentLoadingProgress: ({ request, response }: RequestEvent) =>
        flow.progressed(request, { chunks: response ? new ChunkCounter().endedIn(response) : 0 }),
    };
  }

  /** dash.js abandons its latest request for video: it requests the segment again, whatever else it is doing. */
  repeat(processor: StreamProcessor | undefined): void {
    const sent = this.sent.get('video')!;
    const { request, cmcd, abort } = sent;
    // In a stream with a timeline, dash.js would leave the segment out while playback seeks and between two attempts.
    processor?.setExplicitBufferingTime(request!.startTime + request!.duration / 2);
    // With CMCD, dash.js 5.2 sends a copy of its request, and aborts the original, which does nothing.
    if (!cmcd) return;
    sent.onloadend = undefined;
    abort!();
  }

  /** The media of a request; undefined on demand. */
  media(request: FragmentRequest): LiveMedia | undefined {
    const { representation, startTime, duration } = request;
    if (!isLive(representation!)) return undefined;
    const time = this._time(representation!.mediaInfo!.streamInfo!, representation!);
    return time && { ...time, startSeconds: startTime, segmentSeconds: duration };
  }

  /** The position in the live stream. */
  position(
    stream: StreamInfo,
    representation: Representation,
    playback: PlaybackController | undefined,
  ): LivePosition | undefined {
    const time = this._time(stream, representation);
    if (!time) return undefined;
    const targetLatencySeconds = attempt(() => playback!.getLiveDelay()) || 0;
    // Before the first picture, of a stream that has just begun.
    const begunSeconds = time.nowSeconds - this._gauge.playheadSeconds();
    const latencySeconds = this._latencySeconds() ?? Math.min(begunSeconds, targetLatencySeconds);
    const limits = this.rate.limits(stream, playback, targetLatencySeconds);
    return { ...time, latencySeconds, targetLatencySeconds, ...limits };
  }

  /** Seconds behind the capture; undefined on demand and before the first picture, where dash.js has NaN and 0. */
  private _latencySeconds(): number | undefined {
    // Compatible players need not have the method.
    return (this._player as { getCurrentLiveLatency?(): number }).getCurrentLiveLatency?.() || undefined;
  }

  private _time(
    { manifestInfo }: StreamInfo,
    { segmentDuration, availabilityTimeOffset }: Representation,
  ): LiveTime | undefined {
    const { availableFrom } = manifestInfo;
    const latency = this._latencySeconds();
    const isSynchronised = this._offsetMs !== undefined || latency === undefined;
    const nowSeconds = isSynchronised
      ? (Date.now() + (this._offsetMs || 0) - Number(availableFrom)) / 1000
      : // The plugin was attached after the comparison.
        this._gauge.playheadSeconds() + latency;
    // As the manifest announces it.
    const firstChunkSeconds = Math.max(0, segmentDuration - (availabilityTimeOffset || 0));
    return Number.isFinite(nowSeconds) ? { nowSeconds, firstChunkSeconds } : undefined;
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
    this._offsetMs = undefined;
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

/* dash.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

const ENABLED = 'liveCatchup.enabled';
const DRIFT_SECONDS = 12;
const DVB_SCHEME = 'urn:dvb:dash:lowlatency:scope:2019';

export class CatchUp extends ElementRate {
  /** While the rate is the plugin's: turns dash.js's catch-up on again. */
  private _restore: (() => void) | undefined;

  constructor(
    options: { readonly live: LiveOptions },
    private readonly _player: DashPlayer,
    private readonly _source: { gauge: BufferGauge; latencySeconds(): number | undefined },
  ) {
    super(options);
  }

  protected element(): HTMLMediaElement | undefined {
    return this._source.gauge.element();
  }

  /** `player.seek()` would make dash.js take a new latency for the viewer's choice. */
  protected nowSeconds(): number | undefined {
    const { gauge } = this._source;
    const latencySeconds = this._source.latencySeconds();
    return latencySeconds === undefined ? undefined : gauge.playheadSeconds() + latencySeconds;
  }

  /** dash.js then resets the playback rate to 1. */
  protected turnOff(): void {
    this._restore ||= overrideSettings(this._player, [[ENABLED, false]]);
  }

  protected restore(): void {
    if (this._restore) this._restore();
    this._restore = undefined;
  }

  /** As dash.js's MediaPlayerModel has them, but without its default rates, 0.5 to 1.5, which viewers notice. */
  limits({ manifestInfo }: StreamInfo, playback: PlaybackController | undefined, targetSeconds: number): LiveLimits {
    const enabled = setting(this._player, ENABLED);
    const { latency, playbackRate } = serviceDescription(manifestInfo) || {};
    const rates = [
      { min: this._setting('playbackRate.min'), max: this._setting('playbackRate.max') },
      { min: (playbackRate?.min || Number.NaN) - 1, max: (playbackRate?.max || Number.NaN) - 1 },
    ].find(({ min, max }) => Number.isFinite(min) || Number.isFinite(max));
    const isDescribed = latency && latency.target > 0 && latency.max > latency.target;
    const streamDrift = isDescribed ? (latency.max - latency.target + 500) / 1000 : DRIFT_SECONDS;
    const maxDrift = this._setting('maxDrift');
    const drift = Number.isNaN(maxDrift) ? streamDrift : maxDrift;
    return this.within({
      targetSeconds,
      playbackRates: rates
        ? { min: 1 + Math.max(-0.5, Math.min(0, rates.min || 0)), max: 1 + Math.max(0, Math.min(1, rates.max || 0)) }
        : {},
      maxLatencySeconds: drift > 0 ? targetSeconds + drift : Number.POSITIVE_INFINITY,
      // In the plugin's place, anything but false has been set by the page.
      isPaceable: this._restore
        ? enabled === false
        : Boolean(enabled ?? attempt(() => playback!.getInitialCatchupModeActivated())),
    });
  }

  private _setting(name: string): number {
    return Number(setting(this._player, `liveCatchup.${name}`));
  }
}

/** Undeclared in dash.js's types. Latencies are ms. */
interface ServiceDescription {
  schemeIdUri: string | null;
  latency: { target: number; max: number } | null;
  playbackRate: { min: number; max: number } | null;
}

/** The service description that dash.js applies: the last of DVB's, else the last without a scope. */
function serviceDescription({ serviceDescriptions }: StreamInfo['manifestInfo']): ServiceDescription | undefined {
  const all = (serviceDescriptions || []) as unknown as ServiceDescription[];
  const describedBy = (scheme: string | null) => all.filter(({ schemeIdUri }) => schemeIdUri === scheme).pop();
  return describedBy(DVB_SCHEME) || describedBy(null);
}
