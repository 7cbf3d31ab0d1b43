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
  /** Default: the page's default players, each with its own copy of the link. */
  players?: readonly string[];
  isShared?: boolean;
  /** Options of `npm run moments` by which the start was chosen. */
  rival: string;
  by: Measure;
  /** Number of the simulated starts, and means over them. */
  typical: { starts: number; rival: Averages; own: Averages; rivalsAlone?: Averages };
}

/** Seconds of stalls in the first minute, quality from 0 to 100, and data. */
type Averages = Record<'stallSeconds' | 'quality' | 'gigabytesPerHour', number>;

export const SCENES: readonly Scene[] = [
  {
    title: 'Live',
    about: 'A live stream, one second behind the camera, over a busy Starlink link. Both players get the same link.',
    ...{ trace: 'stationary-crowded', scenario: 'live-hd-1', startSeconds: 225 },
    ...{ rival: 'throughput', by: 'stalls' },
    typical: {
      starts: 17,
      rival: { stallSeconds: 1.8, quality: 86, gigabytesPerHour: 6.8 },
      own: { stallSeconds: 0.1, quality: 86, gigabytesPerHour: 4.6 },
    },
  },
  {
    title: 'On demand',
    about: 'A film, over a fast Starlink link, which carries the best picture. Both players get the same link.',
    ...{ trace: 'stationary-typical', scenario: 'hd-16', startSeconds: 270 },
    ...{ rival: 'dynamic', by: 'data' },
    typical: {
      starts: 37,
      rival: { stallSeconds: 0, quality: 87, gigabytesPerHour: 13.3 },
      own: { stallSeconds: 0, quality: 86, gigabytesPerHour: 7.1 },
    },
  },
  {
    title: 'Four, one dish',
    about: 'A film for four people on one busy Starlink link, two with each player.',
    ...{ trace: 'stationary-crowded', scenario: 'hd-16', startSeconds: 225 },
    ...{ players: ['dynamic', 'mpc-l', 'dynamic', 'mpc-l'], isShared: true },
    ...{ rival: 'dynamic', by: 'perceived' },
    typical: {
      starts: 17,
      rival: { stallSeconds: 1, quality: 79, gigabytesPerHour: 1.9 },
      own: { stallSeconds: 0, quality: 81, gigabytesPerHour: 2.7 },
      rivalsAlone: { stallSeconds: 1, quality: 78, gigabytesPerHour: 1.9 },
    },
  },
];
