/** The dash.js settings of a benchmark: the same player for every algorithm, free of what would disturb the comparison. */

import type { SessionConfig } from '../session-record.ts';

/** Downloads last as long as the trace wants; dash.js would give up after 20 s. */
const REQUEST_TIMEOUT_MS = 15 * 60_000;

export function playerSettings({ scenario }: SessionConfig): object {
  const { bufferCapSeconds, ladderBps } = scenario;
  return {
    streaming: {
      // The scenario's buffer cap, at every quality.
      buffer: {
        bufferTimeDefault: bufferCapSeconds,
        bufferTimeAtTopQuality: bufferCapSeconds,
        bufferTimeAtTopQualityLongForm: bufferCapSeconds,
        bufferToKeep: 4,
        // A switch up must not load again what is buffered.
        fastSwitchEnabled: false,
      },
      // With 500 ms requests would leave up to half a second late when the buffer is full.
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
        // dash.js begins at the lowest.
        initialBitrate: { video: ladderBps[0]! / 1000 },
        // Resource timing finds the first entry of a URL, which may be an abandoned request's.
        throughput: { useResourceTimingApi: false },
      },
    },
  };
}

/** To be set once dash.js has begun at the lowest representation: from here on the algorithm chooses. */
export const FREE_CHOICE = { streaming: { abr: { initialBitrate: { video: -1 } } } };
