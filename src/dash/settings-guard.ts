/** The dash.js settings that the plugin needs, why, and their way back. */

import { type DashPlayer, valueAt } from './player.ts';

interface NeededSetting {
  path: string;
  value: unknown;
  /** Set only where this holds for the value that is there. */
  when?: (present: unknown) => boolean;
}

const RULES = 'streaming.abr.rules';
/** Priority of dash.js's own throughput rule beside ours: below DEFAULT (0.5), the priority of our rule. */
const WEAK = 0;

/** In the order in which they are set. docs/plugin.md tells users the same. */
const NEEDED: readonly NeededSetting[] = [
  // The throughput rule decides on audio, and on video where our rule has no opinion; being weak it never overrules ours.
  { path: `${RULES}.throughputRule.priority`, value: WEAK },
  { path: `${RULES}.throughputRule.active`, value: true },
  // With an endless threshold BOLA is never chosen over the throughput rule. Switching BOLA off instead would leave audio
  // without any rule when the plugin is attached during playback, in a moment when dash.js uses BOLA.
  { path: 'streaming.abr.hybridSwitchBufferTime', value: Number.POSITIVE_INFINITY },
  // These would pull the choice down, because of equal priorities the lowest bitrate wins.
  { path: `${RULES}.insufficientBufferRule.active`, value: false },
  { path: `${RULES}.switchHistoryRule.active`, value: false },
  { path: `${RULES}.l2ARule.active`, value: false },
  { path: `${RULES}.loLPRule.active`, value: false },
  // It would abandon downloads that the plan counts on, and then block switches up for 10 s.
  { path: `${RULES}.abandonRequestsRule.active`, value: false },
  // Resource timing takes the first entry with the same URL, which may be another player's download.
  { path: 'streaming.abr.throughput.useResourceTimingApi', value: false },
  // Else each switch first loads an init segment, which may hang in an outage.
  { path: 'streaming.cacheInitSegments', value: true },
  // dash.js's default throws buffered media away when it switches up, and loads it again; the plan counts each segment
  // once. A value that the page has set stays.
  { path: 'streaming.buffer.fastSwitchEnabled', value: false, when: (present) => present === null },
];

/** For versions without `hybridSwitchBufferTime` (before 5.2). */
const NEEDED_WITHOUT_THRESHOLD: NeededSetting = { path: `${RULES}.bolaRule.active`, value: false };

/** Sets what is needed and puts back what was there. */
export class SettingsGuard {
  readonly #player: DashPlayer;
  readonly #changed = new Map<string, { before: unknown; value: unknown }>();

  constructor(player: DashPlayer) {
    this.#player = player;
  }

  /** Sets every needed setting that this version of dash.js has, and remembers what was there. */
  apply(): void {
    this.#changed.clear();
    const settings = this.#player.getSettings();
    const hasThreshold = valueAt(settings, 'streaming.abr.hybridSwitchBufferTime') !== undefined;
    for (const { path, value, when } of hasThreshold ? NEEDED : [...NEEDED, NEEDED_WITHOUT_THRESHOLD]) {
      const before = valueAt(settings, path);
      if (before === undefined || (when !== undefined && !when(before))) continue;
      this.#changed.set(path, { before, value });
    }
    for (const [path, { value }] of this.#changed) this.#player.updateSettings(nested(path, value));
  }

  /** Puts back each setting that still has the value it was given here; what others changed since stays. */
  restore(): void {
    const settings = this.#player.getSettings();
    for (const [path, { before, value }] of this.#changed) {
      if (Object.is(valueAt(settings, path), value)) this.#player.updateSettings(nested(path, before));
    }
    this.#changed.clear();
  }
}

/** `{ a: { b: value } }` for `a.b`. */
function nested(path: string, value: unknown): object {
  return path
    .split('.')
    .reverse()
    .reduce<unknown>((inner, key) => ({ [key]: inner }), value) as object;
}
