/** The names of the features that `LinkHistory` writes. They are not in the plugin, which knows their order. */

import { UNKNOWN_HANDOVER } from './link-history.ts';

export interface Feature {
  name: string;
  /** Value while the handover is unknown. Absent: the feature is always known. */
  unknown?: number;
}

const ALWAYS_KNOWN =
  'level-0.4s level-2s level-8s level-120s lowest-10s lowest-40s highest-40s spread-15s spread-90s mean-90s ' +
  'silence unseen observed';
const OF_THE_HANDOVER =
  'epoch-phase-0 epoch-phase-1 epoch-phase-2 epoch-phase-3 epoch-phase-4 epoch-phase-5 epoch-phase-6 epoch-phase-7 ' +
  'epoch-level epoch-observed epochs-mean epochs-spread epochs-count handover-known';

/**
 * The features in the order of a model's inputs; a model lists the names of its features. cli/train/model-card.ts has
 * their meaning.
 */
export const FEATURES: readonly Feature[] = [
  ...ALWAYS_KNOWN.split(' ').map((name) => ({ name })),
  ...OF_THE_HANDOVER.split(' ').map((name, i) => ({ name, unknown: UNKNOWN_HANDOVER[i]! })),
];
