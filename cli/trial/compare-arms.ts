/** The arms of a trial against its control, metric by metric. */

import {
  alwaysValidInterval,
  type ClusterSums,
  type Contrast,
  contrastOf,
  intervalOf,
  ratioOf,
} from '../../replay/evaluation/cluster-ratios.ts';
import type { Estimate } from '../../replay/results.ts';
import { DECISIVE, METRICS, type Metric } from './metrics.ts';
import type { ArmSums, TrialSums } from './read-sums.ts';

/** An arm or a kind of sessions with fewer sessions is left out. */
const FEWEST_SESSIONS = 8;
/** Below this probability, chance does not explain the numbers of sessions. */
const WRONG_SHARE_ALPHA = 0.001;

export interface Comparison {
  metric: Metric;
  control: number;
  arm: number;
  /** Arm minus control. */
  contrast: Contrast;
  /** At a single look. */
  difference: Estimate;
  /** At any number of looks, for all arms together. */
  always: Estimate;
}

export interface KindComparison {
  name: string;
  sessions: number;
  /** By decisive metric; for all kinds together. */
  differences: Estimate[];
}

export interface ArmComparison {
  arm: ArmSums;
  comparisons: Comparison[];
  kinds: KindComparison[];
}

export interface TrialComparison {
  control: ArmSums;
  arms: ArmComparison[];
  /** Names of arms with too few sessions. */
  leftOut: string[];
  /** Sentences on arms whose number of sessions is not what was planned. */
  warnings: string[];
}

/**
 * Undefined without the control `name` and another arm with enough sessions. Default: the arm in which the player's own
 * algorithm chose most often.
 */
export function compareArms({ arms, kinds }: TrialSums, name: string | undefined): TrialComparison | undefined {
  const enough = arms.filter(isEnough);
  const [first] = [...enough].sort((a, b) => b.own / b.sessions - a.own / a.sessions);
  const control = enough.find(({ arm }) => arm === (name ?? first?.arm));
  if (control === undefined || enough.length < 2) return undefined;
  const others = enough.filter((arm) => arm !== control);
  return {
    control,
    arms: others.map((arm) => ({
      arm,
      comparisons: METRICS.map((metric) => compared(metric, arm, control, 0.05 / others.length)).filter(
        ({ contrast }) => Number.isFinite(contrast.value),
      ),
      kinds: comparedKinds(kinds, arm, control),
    })),
    leftOut: arms.filter((arm) => !isEnough(arm)).map(({ arm }) => arm),
    warnings: shareWarnings(enough),
  };
}

function isEnough({ sessions, perCluster }: ArmSums): boolean {
  return sessions >= FEWEST_SESSIONS && perCluster.filter((count) => count > 0).length > 1;
}

function compared(metric: Metric, one: ArmSums, other: ArmSums, alpha: number): Comparison {
  const [arm, control] = [one, other].map(({ metrics }) => metrics[metric.id]!) as [ClusterSums, ClusterSums];
  const contrast = contrastOf(arm, control);
  const { value } = contrast;
  return {
    ...{ metric, contrast, control: ratioOf(control), arm: ratioOf(arm) },
    difference: { value, ci95: intervalOf(contrast) },
    always: { value, ci95: alwaysValidInterval(contrast, alpha) },
  };
}

function comparedKinds(kinds: TrialSums['kinds'], arm: ArmSums, control: ArmSums): KindComparison[] {
  const found = kinds.flatMap(({ name, arms }) => {
    const parts = [arm, control].flatMap((all) =>
      arms.filter((part) => part.arm === all.arm && part.sessions < all.sessions && isEnough(part)),
    );
    return parts.length === 2 ? [{ name, parts: parts as [ArmSums, ArmSums] }] : [];
  });
  // Bonferroni.
  const alpha = 0.05 / (DECISIVE.length * found.length);
  return found.map(({ name, parts: [one, other] }) => ({
    ...{ name, sessions: one.sessions + other.sessions },
    differences: DECISIVE.map(({ id }) => {
      const contrast = contrastOf(one.metrics[id]!, other.metrics[id]!);
      return { value: contrast.value, ci95: intervalOf(contrast, alpha) };
    }),
  }));
}

/** Compares the shares of sessions with the planned ones. */
function shareWarnings(arms: readonly ArmSums[]): string[] {
  const x = arms[0]!.perCluster.map((_, c) => arms.reduce((sum, { perCluster }) => sum + perCluster[c]!, 0));
  const planned = arms.reduce((sum, { plannedShare }) => sum + plannedShare, 0);
  return arms.flatMap(({ arm, perCluster: y, sessions, plannedShare }) => {
    const contrast = contrastOf({ x, y, sessions });
    const [low, high] = intervalOf(contrast, WRONG_SHARE_ALPHA) ?? [0, 1];
    const wanted = plannedShare / planned;
    if (low <= wanted && wanted <= high) return [];
    const [is, instead] = [contrast.value, wanted].map((share) => `${(100 * share).toFixed(1)} %`);
    const meaning = 'which is not chance: reports are lost, or viewers stay away, in one arm more than in another';
    return [`\`${arm}\` has ${is} of the sessions instead of ${instead}, ${meaning}.`];
  });
}
