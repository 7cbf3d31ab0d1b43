/** The arms of a trial against its control, metric by metric. */

import { InputError } from '../../abr/errors.ts';
import { alwaysValidInterval, contrastOf, intervalOf, ratioOf } from '../../replay/evaluation/cluster-ratios.ts';
import type { ArmSums, TrialSums } from './read-sums.ts';
import { DECISIVE, METRICS, type Metric } from './sums-sql.ts';

/** An arm or a kind of sessions with fewer sessions is left out. */
const FEWEST_SESSIONS = 8;
/** Below this probability, chance does not explain the numbers of sessions. */
const WRONG_SHARE_ALPHA = 0.001;

export type Comparison = ReturnType<typeof comparisonOf>;
export type TrialComparison = ReturnType<typeof compareArms>;
export type ArmComparison = TrialComparison['arms'][number];

/** `name`: the control's. Default: where the player's own algorithm chose most often. */
export function compareArms({ arms, kinds }: TrialSums, name: string | undefined) {
  const enough = arms.filter(isEnough);
  const [first] = [...enough].sort((a, b) => b.own / b.sessions - a.own / a.sessions);
  const control = enough.find(({ arm }) => arm === (name ?? first?.arm));
  const others = enough.filter((arm) => arm !== control);
  if (control === undefined || others.length === 0) {
    const found = arms.map(({ arm, sessions }) => `${arm} (${sessions})`).join(', ');
    throw new InputError('--control', 'it and another arm, with eight sessions of two clusters each', name, found);
  }
  const compared = others.map((arm) => {
    const comparisons = METRICS.map((metric) => comparisonOf(metric, arm, control, { always: 0.05 / others.length }));
    const known = comparisons.filter(({ contrast }) => Number.isFinite(contrast.value));
    return { arm, comparisons: known, kinds: comparedKinds(kinds, arm, control) };
  });
  return { control, arms: compared, warnings: shareWarnings(enough) };
}

function isEnough({ sessions, perCluster }: ArmSums): boolean {
  return sessions >= FEWEST_SESSIONS && perCluster.filter((count) => count > 0).length > 1;
}

/** `difference`: at a single look. `always`: at any number of looks, for all arms together. */
function comparisonOf(metric: Metric, one: ArmSums, other: ArmSums, { once = 0.05, always = 0.05 }) {
  const [arm, control] = [one.metrics[metric.id]!, other.metrics[metric.id]!];
  const contrast = contrastOf(arm, control);
  return {
    ...{ metric, contrast, control: ratioOf(control), arm: ratioOf(arm) },
    difference: { value: contrast.value, ci95: intervalOf(contrast, once) },
    always: { value: contrast.value, ci95: alwaysValidInterval(contrast, always) },
  };
}

/** In decisive metrics; the intervals hold for all kinds together. */
function comparedKinds(kinds: TrialSums['kinds'], arm: ArmSums, control: ArmSums) {
  const found = kinds.flatMap(({ name, arms }) => {
    const [one, other] = [arm, control].map((all) =>
      arms.find((part) => part.arm === all.arm && part.sessions < all.sessions && isEnough(part)),
    );
    return one && other ? [{ name, one, other }] : [];
  });
  // Bonferroni.
  const once = 0.05 / (DECISIVE.length * found.length);
  return found.map(({ name, one, other }) => ({
    ...{ name, sessions: one.sessions + other.sessions },
    comparisons: DECISIVE.map((metric) => comparisonOf(metric, one, other, { once })),
  }));
}

/** Sentences on arms whose number of sessions is not what was planned. */
function shareWarnings(arms: readonly ArmSums[]): string[] {
  const x = arms[0]!.perCluster.map((_, c) => arms.reduce((sum, { perCluster }) => sum + perCluster[c]!, 0));
  const planned = arms.reduce((sum, { plannedShare }) => sum + plannedShare, 0);
  return arms.flatMap(({ arm, perCluster: y, sessions, plannedShare }) => {
    const contrast = contrastOf({ x, y, sessions });
    const [low, high] = intervalOf(contrast, WRONG_SHARE_ALPHA) ?? [0, 1];
    const wanted = plannedShare / planned;
    if (low <= wanted && wanted <= high) return [];
    const [is, instead] = [contrast.value, wanted].map((share) => `${(100 * share).toFixed(1)} %`);
    return [`\`${arm}\` has ${is} of the sessions instead of ${instead}, which is not chance: reports are lost.`];
  });
}
