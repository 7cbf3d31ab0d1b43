/** The scenes of the page: moments that `npm run moments` found, and what is typical of their links. */

import type { Typical } from '../../replay/simulator/moment-search.ts';
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
  typical: Typical;
}

export const SCENES = scenes as readonly Scene[];
