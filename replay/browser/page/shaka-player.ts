/** Shaka Player: the settings, its requests, and the plugin in it. */

import shaka from 'shaka-player';
import { createFactory } from '../../../src/shaka/installation.ts';
import { assumedLink } from '../../scenarios.ts';
import {
  BUFFER_BEHIND_SECONDS,
  bufferGoalSeconds,
  estimateText,
  type PlayerContext,
  playElement,
  type TestPlayer,
} from './test-player.ts';

/** No timeouts; a failed request is repeated until the session ends. */
const RETRY_PARAMETERS = { maxAttempts: 1000, timeout: 0, stallTimeout: 0, connectionTimeout: 0 };

export function shakaPlayer(context: PlayerContext): TestPlayer {
  const { video, onFault } = context;
  const { scenario, sessionUrl } = context.config;
  const player = new shaka.Player();
  player.configure({
    abr: {
      defaultBandwidthEstimate: assumedLink(scenario).playerBps,
      useNetworkInformation: false,
      // Shaka does not play a quality for 30 s after a busy machine has dropped 15 % of its pictures.
      droppedFrames: false,
    },
    streaming: {
      bufferingGoal: bufferGoalSeconds(scenario),
      rebufferingGoal: 0,
      bufferBehind: BUFFER_BEHIND_SECONDS,
      segmentPrefetchLimit: 1,
      retryParameters: RETRY_PARAMETERS,
    },
  });

  record(player, context);
  player.addEventListener('error', (event) => {
    const { code, severity } = (event as unknown as { detail: { code: number; severity: number } }).detail;
    if (severity === shaka.util.Error.Severity.CRITICAL) onFault(`Shaka Player: error ${code}`);
  });
  return {
    version: shaka.Player.version,
    attach(options, tools) {
      const abrFactory = createFactory(player, options, tools);
      player.configure({ abrFactory });
      return abrFactory.handle;
    },
    start() {
      player
        .attach(video)
        .then(() => player.load(`${sessionUrl}manifest.mpd`))
        .then(() => playElement(context))
        .catch((error: unknown) => onFault(`Shaka Player: ${error}`));
    },
    rest: () => void player.configure({ streaming: { stopFetchingOnPause: true } }),
    destroy: () => player.destroy(),
  };
}

function record(player: shaka.Player, { config, requests }: PlayerContext): void {
  const { SEGMENT } = shaka.net.NetworkingEngine.RequestType;
  const { MEDIA_SEGMENT } = shaka.net.NetworkingEngine.AdvancedRequestType;
  player.getNetworkingEngine()!.registerRequestFilter((type, request, requested) => {
    const { stream, segment } = requested ?? {};
    if (type !== SEGMENT || requested?.type !== MEDIA_SEGMENT || stream?.type !== 'video' || !segment) return;
    const index = Math.round(segment.getStartTime() / config.scenario.segmentSeconds);
    requests.started(request, {
      index,
      // After a switch while it loads an initialization segment, Shaka names the new video with the old one's segment.
      representationId: /(video-\d+)\/\d+\.m4s/.exec(request.uris[0]!)![1]!,
      ownReason: () => estimateText('Shaka', player.getStats().estimatedBandwidth),
    });
  });
  const newManager = player.getConfiguration().abrFactory;
  player.configure({
    abrFactory: () => {
      const manager = newManager();
      const { segmentDownloaded } = manager;
      manager.segmentDownloaded = (...progress: Parameters<typeof segmentDownloaded>) => {
        const [, bytes, , request] = progress;
        if (request) requests.received(request, bytes);
        segmentDownloaded.apply(manager, progress);
      };
      return manager;
    },
  });
  interface NetworkEvent {
    request: object;
    headers: Record<string, string>;
    response?: { data?: ArrayBuffer };
    error?: { code?: number };
  }
  const listen = (type: string, listener: (event: NetworkEvent) => void) =>
    player.addEventListener(type, (event) => listener(event as unknown as NetworkEvent));
  listen('downloadheadersreceived', ({ request, headers }) => requests.responded(request, headers['x-trace-seconds']));
  listen('downloadcompleted', ({ request, response }) =>
    requests.ended(request, 'complete', response?.data?.byteLength),
  );
  listen('downloadfailed', ({ request, error }) => {
    requests.ended(request, error?.code === shaka.util.Error.Code.OPERATION_ABORTED ? 'abandoned' : 'failed');
  });
}
