/** dash.js: its requests and reasons, and the plugin in it. */

import { MediaPlayer, type MediaPlayerClass } from 'dashjs';
import type { LeoAbrHandle } from 'leo-abr';
import { attach } from '../../../src/dash/installation.ts';
import { assumedLink } from '../../scenarios.ts';
import { browserAlgorithm } from '../algorithms.ts';
import { BUFFER_BEHIND_SECONDS, type PlayerContext, REQUEST_TIMEOUT_MS, type TestPlayer } from './test-player.ts';

export function dashPlayer({ config, video, requests, onFault, onNotAllowed }: PlayerContext): TestPlayer {
  const player = MediaPlayer().create();
  player.updateSettings(playerSettings(config) as Parameters<typeof player.updateSettings>[0]);
  player.clearDefaultUTCTimingSources();
  record(player, requests);
  listen(player, 'error', ({ error }) => onFault(`dash.js: ${(error as Error).message ?? JSON.stringify(error)}`));
  listen(player, 'playbackNotAllowed', () => onNotAllowed?.());
  // dash.js has begun with what the scenario assumes; from here on the algorithm decides.
  listen(player, 'streamInitialized', () => {
    player.updateSettings({ streaming: { abr: { initialBitrate: { video: -1 } } } });
  });
  let handle: LeoAbrHandle | undefined;
  return {
    version: player.getVersion(),
    attach(options, tools) {
      handle = attach(player, options, tools);
      return handle;
    },
    start: () => player.initialize(video, `${config.sessionUrl}manifest.mpd`, true),
    latencySeconds: () => player.getCurrentLiveLatency(),
    rest: () => player.updateSettings({ streaming: { scheduling: { scheduleWhilePaused: false } } }),
    destroy() {
      // dash.js cannot destroy a player that was not initialized.
      if (player.isReady()) player.destroy();
      else handle?.detach();
    },
  };
}

function playerSettings({ scenario, algorithm }: PlayerContext['config']): object {
  const { bufferCapSeconds, live } = scenario;
  const { rules, catchUp, ownOf } = browserAlgorithm(algorithm);
  return {
    streaming: {
      buffer: {
        bufferTimeDefault: bufferCapSeconds,
        bufferTimeAtTopQuality: bufferCapSeconds,
        bufferTimeAtTopQualityLongForm: bufferCapSeconds,
        bufferToKeep: BUFFER_BEHIND_SECONDS,
        // A switch up must not download buffered segments again.
        fastSwitchEnabled: false,
      },
      // With the default of 500 ms and a full buffer, requests would be up to half a second late.
      scheduling: { defaultTimeout: 20 },
      // A switch back to a known representation costs no request.
      cacheInitSegments: true,
      fragmentRequestTimeout: REQUEST_TIMEOUT_MS,
      // A session must not remember earlier sessions.
      lastBitrateCachingInfo: { enabled: false },
      lastMediaSettingsCachingInfo: { enabled: false },
      saveLastMediaSettingsForCurrentStreamingSession: false,
      // A live manifest names the origin's clock. On demand the player needs no time.
      utcSynchronization: { enabled: live !== undefined },
      ...(live && {
        liveCatchup: {
          enabled: true,
          mode: catchUp === 'lolp' ? 'liveCatchupModeLoLP' : 'liveCatchupModeDefault',
        },
      }),
      abr: {
        // The plugin decides on the first segment, too.
        initialBitrate: { video: ownOf ? assumedLink(scenario).playerBps / 1000 : -1 },
        // Resource timing gives the first entry of a URL, which may belong to an abandoned request.
        throughput: { useResourceTimingApi: false },
        ...(rules && {
          rules: Object.fromEntries(Object.entries(rules).map(([name, active]) => [name, { active }])),
        }),
      },
    },
  };
}

interface DashSegmentRequest {
  type: string;
  mediaType: string;
  index: number;
  /** NaN while low-latency media is loading. */
  bytesLoaded: number;
  /** Time of Date.now() at which the request may leave: BolaRule waits while the buffer is above its limit. */
  delayLoadingTime?: number;
  representation: { id: string } | null;
}

interface DashRequestEvent {
  request: DashSegmentRequest;
  /** For low-latency media, only the chunks since the last event. */
  response?: ArrayBuffer;
  error?: unknown;
  /** The media of a change of quality, and the rule's reason. */
  mediaType: string;
  reason: unknown;
}

function record(player: MediaPlayerClass, requests: PlayerContext['requests']): void {
  /** Reason for the last change of quality; undefined after the next request. */
  let reason: string | undefined;
  listen(player, 'qualityChangeRequested', (event) => {
    if (event.mediaType === 'video') reason = reasonText(event.reason);
  });
  const ended = (request: DashSegmentRequest, outcome: 'complete' | 'abandoned' | 'failed') =>
    requests.ended(request, outcome, request.bytesLoaded > 0 ? request.bytesLoaded : undefined);
  listen(player, 'fragmentLoadingStarted', ({ request }) => {
    const { type, mediaType, index, representation } = request;
    if (type !== 'MediaSegment' || mediaType !== 'video' || representation === null) return;
    const ownReason = () => {
      const said = reason ?? 'dash.js changes nothing';
      reason = undefined;
      return said;
    };
    const loadedBytes = () => request.bytesLoaded || 0;
    const delaySeconds = Math.max(0, (request.delayLoadingTime ?? 0) - Date.now()) / 1000;
    requests.started(request, { index, representationId: representation.id, loadedBytes, delaySeconds, ownReason });
  });
  listen(player, 'loadingDataProgress', ({ request, response }) =>
    requests.received(request, response?.byteLength ?? 0),
  );
  listen(player, 'fragmentLoadingCompleted', ({ request, error }) => ended(request, error ? 'failed' : 'complete'));
  listen(player, 'fragmentLoadingAbandoned', ({ request }) => ended(request, 'abandoned'));
  interface MediaResponse {
    request: { customData?: { request?: DashSegmentRequest } };
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

function listen(player: object, type: string, listener: (event: DashRequestEvent) => void): void {
  // dash.js's types list only some of the events.
  (player as { on(type: string, listener: (event: DashRequestEvent) => void): void }).on(type, listener);
}

/** dash.js's rules give reasons as objects of numbers, some with a message. */
function reasonText(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return String(reason ?? 'no reason given');
  const { message, ...rest } = reason as { message?: unknown };
  if (typeof message === 'string') return message;
  return Object.entries(rest)
    .filter(([, value]) => ['number', 'string', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`)
    .join(', ');
}
