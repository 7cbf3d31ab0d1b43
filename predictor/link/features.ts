/** The features that `LinkHistory` writes. The plugin knows their order, but not their names. */

export interface Feature {
  name: string;
  meaning: string;
}

/** The features in the order of a model's inputs. */
export const FEATURES: readonly Feature[] = Object.entries({
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
}).map(([name, meaning]) => ({ name, meaning }));
