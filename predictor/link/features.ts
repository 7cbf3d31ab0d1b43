/** The names of the features that `LinkHistory` writes. They are not in the plugin, which knows their order. */

import { UNKNOWN_HANDOVER } from './link-history.ts';

export interface Feature {
  name: string;
  /** Value while the handover is unknown. Absent: the feature is always known. */
  unknown?: number;
}

const ALWAYS_KNOWN = [
  // ln of average rates over the last seconds of downloading / reference.
  'level-0.4s',
  'level-2s',
  'level-8s',
  'level-120s',
  // ln(rate / reference) of the one-second bins of the last 10, 40, 15 and 90 s of time.
  'lowest-10s',
  'lowest-40s',
  'highest-40s',
  'spread-15s',
  'spread-90s',
  'mean-90s',
  // Seconds / 3 of (nearly) no bits during downloads, at most 2.
  'silence',
  // Seconds / 4 since the last observation, at most 2.
  'unseen',
  // ln(1 + observed seconds, at most 120) / 2.
  'observed',
];
const OF_THE_HANDOVER = [
  // Position in the epoch, as weights of 8 hat functions.
  ...Array.from({ length: 8 }, (_, i) => `epoch-phase-${i}`),
  // ln rate of this epoch so far, and ln(1 + its observed seconds) / 2.
  'epoch-level',
  'epoch-observed',
  // Mean and spread of the ln rates of up to 8 previous epochs, and their number / 8.
  'epochs-mean',
  'epochs-spread',
  'epochs-count',
  'handover-known',
];

/** The features in the order of a model's inputs; a model lists the names of its features. */
export const FEATURES: readonly Feature[] = [
  ...ALWAYS_KNOWN.map((name) => ({ name })),
  ...OF_THE_HANDOVER.map((name, i) => ({ name, unknown: UNKNOWN_HANDOVER[i]! })),
];
