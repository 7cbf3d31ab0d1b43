/** The scenes of the page: moments that `npm run moments` found, and what is typical of their links. */

import scenes from './scenes.json' with { type: 'json' };

/** One algorithm over all starts of the scene's link, in the simulator. */
export interface TypicalRow {
  algorithm: string;
  qoe: number;
  mbps: number;
  stallsPerMinute: number;
  stallSecondsPerMinute: number;
  /** Of the handovers, those in whose dip it stalled. */
  stalledHandoverShare: number;
}

export interface Scene {
  name: string;
  title: string;
  /** As in the page's address. */
  players: readonly string[];
  trace: string;
  scenario: string;
  startSeconds: number;
  risk: number;
  watchedSeconds: number;
  /** How many links and starts were searched, and at how many the moment came about. */
  searched: { links: number; starts: number; moments: number };
  typical: { starts: number; seconds: number; rows: readonly TypicalRow[] };
}

export const SCENES: readonly Scene[] = scenes;
