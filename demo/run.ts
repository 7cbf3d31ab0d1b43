/** One start of all players: what the views and the take-away read. */

import type { Scenario } from '../replay/scenarios.ts';
import type { TraceListing } from './origin-client.ts';
import type { SessionRecord } from './session-record.ts';
import type { Timeline } from './timeline-model.ts';

/** A player in a run. */
export interface RunPlayer {
  /** Counts from 0: its colour and its dashes. */
  place: number;
  algorithm: string;
  title: string;
  record: SessionRecord;
}

export interface Run {
  trace: TraceListing;
  scenario: Scenario;
  startSeconds: number;
  seed: number;
  /** Of MPC-L. */
  risk: number;
  /** Address of the prediction service that MPC-L asks first; empty for none. */
  service: string;
  timeline: Timeline;
  players: readonly RunPlayer[];
  /** Over, or stopped: nothing more will happen. */
  ended: boolean;
}

/** How far the first of the players is, in seconds. */
export function nowSecondsOf({ players }: Run): number {
  return Math.max(0, ...players.map(({ record }) => record.nowSeconds));
}
