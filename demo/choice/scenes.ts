/** The scenes of the page: moments found by a search of synthetic links, and what is typical of these. */

import scenes from './scenes.json' with { type: 'json' };

export interface Scene {
  name: string;
  title: string;
  /** What helps in it: the handover is expected, or a late download is given up. */
  shows: 'handover' | 'abandonment';
  /** As in the page's address. */
  players: readonly string[];
  trace: string;
  scenario: string;
  startSeconds: number;
  risk: number;
  watchedSeconds: number;
  /** How many links and starts were searched for a moment at a handover, and at how many there is one. */
  searched: { links: number; starts: number; moments: number };
  typical: { starts: number; seconds: number; rows: readonly TypicalRow[] };
}

/** One algorithm over many starts of a link; QoE is LoL+'s, on demand QoE-linear. */
export interface TypicalRow {
  algorithm: string;
  qoe: number;
  mbps: number;
  stallsPerMinute: number;
  stallSecondsPerMinute: number;
  /** Of the handovers, those in whose dip it stalled for at least 0.1 s. */
  stalledHandoverShare: number;
}

export const SCENES = scenes as readonly Scene[];
