/** The dash.js settings that the plugin needs, and how they are restored. docs/plugin-dash.md lists them for users. */

import { override } from '../adapter-kit.ts';
import { type DashPlayer, set, setting } from './player.ts';

/** Priority of dash.js's throughput rule: below DEFAULT (0.5), the priority of our rule. */
const WEAK = 0;

type Setting = readonly [path: string, value: unknown];

/** Paths below `streaming`, in the order of setting them. */
const NEEDED: readonly Setting[] = [
  // The throughput rule decides on audio, and on video if our rule has no choice; being weak, it never overrules ours.
  ['abr.rules.throughputRule.priority', WEAK],
  ['abr.rules.throughputRule.active', true],
  // With an infinite threshold, dash.js never prefers BOLA to the throughput rule. Switching BOLA off instead would
  // leave audio without a rule if the plugin is attached while dash.js uses BOLA.
  ['abr.hybridSwitchBufferTime', Number.POSITIVE_INFINITY],
  // These would lower the choice: among equal priorities, the lowest bitrate wins.
  ['abr.rules.insufficientBufferRule.active', false],
  ['abr.rules.switchHistoryRule.active', false],
  ['abr.rules.l2ARule.active', false],
  ['abr.rules.loLPRule.active', false],
  // This rule would abandon downloads that the plan relies on, and then block switches up for 10 s.
  ['abr.rules.abandonRequestsRule.active', false],
  // Resource timing takes the first entry with the same URL, which may be another player's download.
  ['abr.throughput.useResourceTimingApi', false],
  // Otherwise each switch first loads an init segment, which may hang in an outage.
  ['cacheInitSegments', true],
];

/** Before 5.2, dash.js has no threshold. */
const WITHOUT_THRESHOLD = ['abr.rules.bolaRule.active', false] as const;

/**
 * With its default (null), dash.js discards buffered media at a switch up and loads it again, but the plan counts each
 * segment once. A value set by the page stays.
 */
const WHERE_UNSET = ['buffer.fastSwitchEnabled', false] as const;

/** Applies the settings that this version of dash.js has; returns a function that restores the previous ones. */
export function applySettings(player: DashPlayer, cmcd = false): () => void {
  const wanted = [...NEEDED];
  if (setting(player, 'abr.hybridSwitchBufferTime') === undefined) wanted.push(WITHOUT_THRESHOLD);
  if (setting(player, WHERE_UNSET[0]) === null) wanted.push(WHERE_UNSET);
  if (cmcd) wanted.push(['cmcd.enabled', true]);
  return overrideSettings(player, wanted);
}

/** Applies the settings that this version of dash.js has, in this order; returns a function that restores the previous values. */
export function overrideSettings(player: DashPlayer, wanted: readonly Setting[]): () => void {
  const restores = wanted
    .filter(([path]) => setting(player, path) !== undefined)
    .map(([path, value]) =>
      override(
        value,
        () => setting(player, path),
        (one) => set(player, path, one),
      ),
    );
  return () => {
    for (const restore of restores) restore();
  };
}
