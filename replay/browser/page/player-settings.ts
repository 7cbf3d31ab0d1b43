/** The dash.js settings of a benchmark: the same for every algorithm. */

import { browserAlgorithm } from '../algorithms.ts';
import type { SessionConfig } from '../session-record.ts';
import { BUFFER_BEHIND_SECONDS, REQUEST_TIMEOUT_MS } from './test-player.ts';

/** dash.js's rules that are on by default. */
const DEFAULT_RULES = [
  'throughputRule',
  'bolaRule',
  'insufficientBufferRule',
  'switchHistoryRule',
  'abandonRequestsRule',
];

export function playerSettings({ scenario, algorithm }: Pick<SessionConfig, 'scenario' | 'algorithm'>): object {
  const { bufferCapSeconds, ladderBps, live } = scenario;
  const { rule, catchUp } = browserAlgorithm(algorithm);
  return {
    streaming: {
      // The scenario's buffer cap, at every quality.
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
      // No memory from one session to the next.
      lastBitrateCachingInfo: { enabled: false },
      lastMediaSettingsCachingInfo: { enabled: false },
      saveLastMediaSettingsForCurrentStreamingSession: false,
      // The manifest of a live stream names the origin's clock; on demand nobody asks for the time.
      utcSynchronization: { enabled: live !== undefined },
      ...(live && {
        liveCatchup: {
          enabled: true,
          mode: catchUp?.law === 'lolp' ? 'liveCatchupModeLoLP' : 'liveCatchupModeDefault',
        },
      }),
      abr: {
        // The lowest representation.
        initialBitrate: { video: ladderBps[0]! / 1000 },
        // Resource timing gives the first entry of a URL, which may be that of an abandoned request.
        throughput: { useResourceTimingApi: false },
        // Of several rules' requests dash.js takes the lowest.
        ...(rule !== undefined && {
          rules: {
            ...Object.fromEntries(DEFAULT_RULES.map((name) => [name, { active: false }])),
            [rule]: { active: true },
          },
        }),
      },
    },
  };
}

/** Set this once dash.js has begun at the lowest representation; from then on the algorithm decides. */
export const FREE_CHOICE = { streaming: { abr: { initialBitrate: { video: -1 } } } };
