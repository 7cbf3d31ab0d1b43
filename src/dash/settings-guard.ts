/** The dash.js settings that the plugin needs, why, and their way back. docs/plugin.md tells users the same. */

import { type DashPlayer, setting } from './player.ts';

/** Priority of dash.js's own throughput rule beside ours: below DEFAULT (0.5), the priority of our rule. */
const WEAK = 0;

/** Paths below `streaming`, in the order in which they are set. */
const NEEDED: readonly (readonly [path: string, value: unknown])[] = [
  // The throughput rule decides on audio, and on video where our rule has no opinion; being weak it never overrules ours.
  ['abr.rules.throughputRule.priority', WEAK],
  ['abr.rules.throughputRule.active', true],
  // With an endless threshold BOLA is never chosen over the throughput rule. Switching BOLA off instead would leave audio
  // without any rule when the plugin is attached during playback, in a moment when dash.js uses BOLA.
  ['abr.hybridSwitchBufferTime', Number.POSITIVE_INFINITY],
  // These would pull the choice down: of equal priorities the lowest bitrate wins.
  ['abr.rules.insufficientBufferRule.active', false],
  ['abr.rules.switchHistoryRule.active', false],
  ['abr.rules.l2ARule.active', false],
  ['abr.rules.loLPRule.active', false],
  // It would abandon downloads that the plan counts on, and then block switches up for 10 s.
  ['abr.rules.abandonRequestsRule.active', false],
  // Resource timing takes the first entry with the same URL, which may be another player's download.
  ['abr.throughput.useResourceTimingApi', false],
  // Else each switch first loads an init segment, which may hang in an outage.
  ['cacheInitSegments', true],
];

/** Before 5.2 there is no threshold. */
const WITHOUT_THRESHOLD = ['abr.rules.bolaRule.active', false] as const;

/**
 * dash.js's default (null) throws buffered media away when it switches up, and loads it again; the plan counts each
 * segment once. A value that the page has set stays.
 */
const WHERE_UNSET = ['buffer.fastSwitchEnabled', false] as const;

/** Sets what is needed, as far as this version of dash.js has it; returns what puts back what was there. */
export function applySettings(player: DashPlayer): () => void {
  const wanted = [...NEEDED];
  if (setting(player, 'abr.hybridSwitchBufferTime') === undefined) wanted.push(WITHOUT_THRESHOLD);
  if (setting(player, WHERE_UNSET[0]) === null) wanted.push(WHERE_UNSET);
  const changes = wanted
    .map(([path, value]) => ({ path, value, before: setting(player, path) }))
    .filter(({ before }) => before !== undefined);
  for (const { path, value } of changes) update(player, path, value);
  return () => {
    for (const { path, value, before } of changes) {
      // What the page has changed since stays.
      if (setting(player, path) === value) update(player, path, before);
    }
  };
}

function update(player: DashPlayer, path: string, value: unknown): void {
  player.updateSettings(
    `streaming.${path}`.split('.').reduceRight<object>((inner, key) => ({ [key]: inner }), value as object),
  );
}
