/** The scenes of the page: typical starts on shipped links. demo.test.ts compares them with `npm run moments`. */

import type { Measure } from '../../replay/simulator/link-starts.ts';

export interface Scene {
  title: string;
  about: string;
  /** Names as in the page's address. */
  trace: string;
  scenario: string;
  /** Second of the trace. */
  startSeconds: number;
  /** Options of `npm run moments` by which the start was chosen. */
  rival: string;
  by: Measure;
  /** Number of the simulated starts, and means over them. */
  typical: { starts: number; rival: Averages; own: Averages };
}

/** Seconds of stalls in the first minute, and quality from 0 to 100. */
type Averages = Record<'stallSeconds' | 'quality', number>;

export const SCENES: readonly Scene[] = [
  {
    title: 'Live',
    about: 'A live stream, one second behind the camera, over Starlink in a busy cell. Both players get the same link.',
    ...{ trace: 'stationary-crowded', scenario: 'live-hd-1', startSeconds: 225 },
    ...{ rival: 'throughput', by: 'stalls' },
    typical: { starts: 17, rival: { stallSeconds: 1.8, quality: 86 }, own: { stallSeconds: 0.1, quality: 85 } },
  },
  {
    title: 'On demand',
    about: 'A film, over Starlink in a moving car, with many short outages. Both players get the same link.',
    ...{ trace: 'driving-slow', scenario: 'pensieve-60', startSeconds: 240 },
    ...{ rival: 'dynamic', by: 'perceived' },
    typical: { starts: 37, rival: { stallSeconds: 3.6, quality: 55 }, own: { stallSeconds: 4.2, quality: 60 } },
  },
];
