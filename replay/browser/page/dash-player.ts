/** dash.js under test: its requests, the plugin in it, and catch-ups that the benchmark adds. */

import { MediaPlayer, type MediaPlayerClass } from 'dashjs';
import { attachLeoAbr } from 'leo-abr/live';
import { type CatchUp, catchUpRate, DEFAULT_PLAYBACK_RATES, isInSlot } from '../../catch-up.ts';
import type { LiveStream } from '../../scenarios.ts';
import { browserAlgorithm } from '../algorithms.ts';
import { FREE_CHOICE, playerSettings } from './player-settings.ts';
import type { RequestRecorder } from './request-recorder.ts';
import type { PlayerContext, TestPlayer } from './test-player.ts';

export function dashPlayer({ config, video, requests, clock, onFault }: PlayerContext): TestPlayer {
  const { live } = config.scenario;
  const { catchUp } = browserAlgorithm(config.algorithm);
  const player = MediaPlayer().create();
  player.updateSettings(playerSettings(config) as Parameters<typeof player.updateSettings>[0]);
  player.clearDefaultUTCTimingSources();
  record(player, requests);
  listen(player, 'error', ({ error }) => onFault(`dash.js: ${JSON.stringify(error)}`));
  if (live && catchUp?.fixedSlots) {
    const adjust = () => slowDownInSlots(player, catchUp, live, clock.now().utcMs);
    for (const type of ['playbackProgress', 'playbackTimeUpdated']) listen(player, type, adjust);
  }
  listen(player, 'streamInitialized', () => {
    player.updateSettings(FREE_CHOICE as Parameters<typeof player.updateSettings>[0]);
  });
  return {
    version: player.getVersion(),
    attach: (options) => attachLeoAbr(player, options),
    start: () => player.initialize(video, `${config.sessionUrl}manifest.mpd`, true),
    latencySeconds: () => player.getCurrentLiveLatency(),
    destroy: () => player.destroy(),
  };
}

/** The used fields of dash.js's request. */
interface SegmentRequest {
  type: string;
  mediaType: string;
  index: number;
  /** Not a number while low-latency media is loaded. */
  bytesLoaded: number;
  representation: { id: string } | null;
}

interface RequestEvent {
  request: SegmentRequest;
  /** Of low-latency media: the chunks since the last event. */
  response?: ArrayBuffer;
  error?: unknown;
}

function record(player: MediaPlayerClass, requests: RequestRecorder): void {
  const ended = (request: SegmentRequest, outcome: 'complete' | 'abandoned' | 'failed') =>
    requests.ended(request, outcome, request.bytesLoaded > 0 ? request.bytesLoaded : undefined);
  listen(player, 'fragmentLoadingStarted', ({ request }) => {
    const { type, mediaType, index, representation } = request;
    if (type !== 'MediaSegment' || mediaType !== 'video' || representation === null) return;
    requests.started(request, { index, representationId: representation.id });
  });
  listen(player, 'loadingDataProgress', ({ request, response }) =>
    requests.received(request, response?.byteLength ?? 0),
  );
  listen(player, 'fragmentLoadingCompleted', ({ request, error }) => ended(request, error ? 'failed' : 'complete'));
  listen(player, 'fragmentLoadingAbandoned', ({ request }) => ended(request, 'abandoned'));
  interface MediaResponse {
    request: { customData?: { request?: SegmentRequest } };
    headers?: Record<string, string>;
  }
  const { addResponseInterceptor } = player as unknown as {
    addResponseInterceptor(interceptor: (response: MediaResponse) => Promise<MediaResponse>): void;
  };
  addResponseInterceptor((response) => {
    const request = response.request.customData?.request;
    if (request) requests.responded(request, response.headers?.['x-trace-seconds']);
    return Promise.resolve(response);
  });
}

/** Slows down in the fixed slots; between them dash.js catches up. Call it at the events at which dash.js does. */
function slowDownInSlots(player: MediaPlayerClass, catchUp: CatchUp, live: LiveStream, utcMs: number): void {
  const isSlot = isInSlot(utcMs);
  if (player.getSettings().streaming?.liveCatchup?.enabled === isSlot) {
    player.updateSettings({ streaming: { liveCatchup: { enabled: !isSlot } } });
  }
  if (!isSlot || player.isPaused() || player.isSeeking()) return;
  const presentRate = player.getPlaybackRate();
  const rate = catchUpRate(catchUp, {
    latencySeconds: player.getCurrentLiveLatency(),
    targetLatencySeconds: player.getTargetLiveDelay(),
    bufferLevelSeconds: player.getBufferLength('video'),
    utcMs,
    rates: live.playbackRates ?? DEFAULT_PLAYBACK_RATES,
    presentRate,
  });
  if (rate !== presentRate) player.setPlaybackRate(rate);
}

function listen(player: object, type: string, listener: (event: RequestEvent) => void): void {
  // dash.js's types list only some of the events.
  (player as { on(type: string, listener: (event: RequestEvent) => void): void }).on(type, listener);
}
