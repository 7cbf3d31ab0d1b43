/** A run: the sessions of all players from a common start. All views read it. */

import { liveSessionSeconds, type Scenario } from '../../replay/scenarios.ts';
import type { DemoChoice } from '../choice/choice.ts';
import type { TraceListing } from '../origin/origin-client.ts';
import type { SessionRecord } from './session-record.ts';
import type { Timeline } from './timeline-model.ts';

/** The seed of controllers and forecasters. */
export const SEED = 1;

export interface RunPlayer {
  /** Number from 0, which selects colour and dashes. */
  place: number;
  algorithm: string;
  title: string;
  record: SessionRecord;
}

export interface DemoRun extends Pick<DemoChoice, 'startSeconds' | 'isShared'> {
  trace: TraceListing;
  scenario: Scenario;
  timeline: Timeline;
  players: readonly RunPlayer[];
  ended: boolean;
  /** The machine is too busy for its players: freezes may be its own. */
  isBusy?: boolean;
}

/** Returns how long a session takes without startup and stalls. A live session ends after this time. */
export function sessionSecondsOf({ live, ...scenario }: Scenario): number {
  return live ? liveSessionSeconds({ ...scenario, live }) : scenario.segmentCount * scenario.segmentSeconds;
}

/** Returns a player's title, with its number if another player has the same title. */
export function nameIn({ players }: DemoRun, { place, title }: RunPlayer): string {
  return players.filter((one) => one.title === title).length > 1 ? `${title} (${place + 1})` : title;
}

export function nowSecondsOf({ players }: DemoRun): number {
  return Math.max(0, ...players.map(({ record }) => record.nowSeconds));
}
