/** The features that `LinkHistory` writes. Their names are not in the plugin, which knows their order. */

import { UNKNOWN_HANDOVER } from './link-history.ts';

export interface Feature {
  name: string;
  meaning: string;
  /** Value while the handover is unknown. Absent: the feature is always known. */
  unknown?: number;
}

const PHASES = Array.from({ length: 8 }, (_, i) => `epoch-phase-${i}`);

const ALWAYS_KNOWN = {
  'level-0.4s': 'ln of the average rate, fading with 0.4 s of downloading, over the reference',
  'level-2s': 'the same, fading with 2 s',
  'level-8s': 'the same, fading with 8 s',
  'level-120s': 'the same, fading with 120 s',
  'lowest-10s': 'ln of the lowest one-second rate of the last 10 s over the reference, at most 0',
  'lowest-40s': 'the same of the last 40 s',
  'highest-40s': 'ln of the highest one-second rate of the last 40 s over the reference, at least 0',
  'spread-15s': 'standard deviation of the ln of one-second rates of the last 15 s',
  'spread-90s': 'the same of the last 90 s',
  'mean-90s': 'mean of the ln of one-second rates of the last 90 s over the reference',
  silence: 'seconds / 3 that a download has been (next to) dead, at most 2',
  unseen: 'seconds / 4 since anything was downloaded, at most 2',
  observed: 'ln(1 + seconds of downloading seen, at most 120) / 2',
};
const OF_THE_HANDOVER = {
  ...Object.fromEntries(
    PHASES.map((name) => [name, 'position in the 15 s epoch: weight of one of 8 hat functions around it']),
  ),
  'epoch-level': 'ln of the mean rate of this 15 s epoch so far over the reference',
  'epoch-observed': 'ln(1 + seconds seen of this epoch) / 2',
  'epochs-mean': 'mean of the ln levels of up to 8 epochs before, over the reference',
  'epochs-spread': 'standard deviation of those levels',
  'epochs-count': 'their number / 8',
  'handover-known': '1 where the session knows when handovers fall, else 0',
};

/** The features in the order of a model's inputs; a model lists the names of its features. */
export const FEATURES: readonly Feature[] = [
  ...Object.entries(ALWAYS_KNOWN).map(([name, meaning]) => ({ name, meaning })),
  ...Object.entries(OF_THE_HANDOVER).map(([name, meaning], i) => ({ name, meaning, unknown: UNKNOWN_HANDOVER[i]! })),
];
