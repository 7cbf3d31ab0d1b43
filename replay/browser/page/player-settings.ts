/** The dash.js settings of a benchmark: the same for every algorithm. */

import type { SessionConfig } from '../session-record.ts';

/** Longer than any outage of a trace; the default is 20 s. */
const REQUEST_TIMEOUT_MS = 15 * 60_000;

export function playerSettings({ scenario }: Pick<SessionConfig, 'scenario'>): object {
  const { bufferCapSeconds, ladderBps } = scenario;
  return {
    streaming: {
      // The scenario's buffer cap, at every quality.
      buffer: {
        bufferTimeDefault: bufferCapSeconds,
        bufferTimeAtTopQuality: bufferCapSeconds,
        bufferTimeAtTopQualityLongForm: bufferCapSeconds,
        bufferToKeep: 4,
        // A switch up must not download buffered segments again.
        fastSwitchEnabled: false,
      },
      // With the default of 500 ms and a full buffer, requests would be up to half a second late.
      scheduling: { defaultTimeout: 20 },
      // A switch back to a known representation costs no request.
      cacheInitSegments: true,
      fragmentRequestTimeout: REQUEST_TIMEOUT_MS,
      // No memory from one session to the next.
      lastBitrateCachingInfo: { enabled: false },
      lastMediaSettingsCachingInfo: { enabled: false },
      saveLastMediaSettingsForCurrentStreamingSession: false,
      utcSynchronization: { enabled: false },
      abr: {
        // The lowest representation.
        initialBitrate: { video: ladderBps[0]! / 1000 },
        // Resource timing gives the first entry of a URL, which may be that of an abandoned request.
        throughput: { useResourceTimingApi: false },
      },
    },
  };
}

/** Set this once dash.js has begun at the lowest representation; from then on the algorithm decides. */
export const FREE_CHOICE = { streaming: { abr: { initialBitrate: { video: -1 } } } };
