/** The scenes of the page: starts of shipped links from the middle of all. scenes.test.ts holds them against `npm run moments`. */

import type { Measure } from '../../replay/simulator/link-starts.ts';

export interface Scene {
  title: string;
  about: string;
  /** As in the page's address. */
  players: readonly string[];
  trace: string;
  scenario: string;
  /** Second of the trace. */
  startSeconds: number;
  /** What the start was chosen by: the options of `npm run moments`. */
  rival: string;
  by: Measure;
  /** Means of the simulated starts. */
  typical: { starts: number; rival: Averages; own: Averages };
}

/** Seconds of stalls in the first minute, and quality, 0 to 100. */
interface Averages {
  stallSeconds: number;
  quality: number;
}

export const SCENES: readonly Scene[] = [
  {
    title: 'Live',
    about: 'A live stream, one second behind the camera, over Starlink in a busy cell. Both players get the same link.',
    players: ['dynamic', 'mpc-l'],
    ...{ trace: 'stationary-crowded', scenario: 'live-hd-1', startSeconds: 225 },
    ...{ rival: 'throughput', by: 'stalls' },
    typical: { starts: 17, rival: { stallSeconds: 1.8, quality: 93 }, own: { stallSeconds: 0.1, quality: 91 } },
  },
  {
    title: 'On demand',
    about: 'A film, over Starlink in a moving car, with many short outages. Both players get the same link.',
    players: ['dynamic', 'mpc-l'],
    ...{ trace: 'driving-slow', scenario: 'pensieve-60', startSeconds: 510 },
    ...{ rival: 'dynamic', by: 'perceived' },
    typical: { starts: 37, rival: { stallSeconds: 4, quality: 61 }, own: { stallSeconds: 4.1, quality: 67 } },
  },
];
