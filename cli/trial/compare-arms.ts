/** The arms of a trial against its control, metric by metric. */

import {
  alwaysValidInterval,
  type ClusterSums,
  type Contrast,
  contrastOf,
  type IntervalOptions,
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
  /** By decisive metric: the difference, and how far it is above that of all other sessions, for all kinds together. */
  differences: [difference: Estimate | null, againstOthers: Estimate | null][];
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
 * Undefined without `control` and another arm with enough sessions. Default: the arm in which the player's own algorithm
 * chose most often. `plannedSessions`: see `alwaysValidInterval`.
 */
export function compareArms(
  sums: TrialSums,
  { control: name, plannedSessions }: { control?: string | undefined; plannedSessions: number },
): TrialComparison | undefined {
  const enough = sums.arms.filter(isEnough);
  const [first] = [...enough].sort((a, b) => b.own / b.sessions - a.own / a.sessions);
  const control = enough.find(({ arm }) => arm === (name ?? first?.arm));
  if (control === undefined || enough.length < 2) return undefined;
  const others = enough.filter((arm) => arm !== control);
  const planned = { plannedSessions, alpha: 0.05 / others.length };
  return {
    control,
    arms: others.map((arm) => ({
      arm,
      comparisons: METRICS.map((metric) => compared(metric, [control, arm], planned)).filter(({ contrast }) =>
        Number.isFinite(contrast.value),
      ),
      kinds: comparedKinds(sums, [control, arm]),
    })),
    leftOut: sums.arms.filter((arm) => !isEnough(arm)).map(({ arm }) => arm),
    warnings: shareWarnings(enough),
  };
}

function isEnough({ sessions, perUnit }: ArmSums): boolean {
  return sessions >= FEWEST_SESSIONS && perUnit.filter((count) => count > 0).length > 1;
}

function compared(metric: Metric, arms: readonly ArmSums[], planned: IntervalOptions): Comparison {
  const [before, after] = arms.map(({ metrics }) => metrics[metric.id]!) as [ClusterSums, ClusterSums];
  const contrast = differenceOf(before, after);
  const { value } = contrast;
  return {
    ...{ metric, contrast, control: ratioOf(before), arm: ratioOf(after) },
    difference: { value, ci95: intervalOf(contrast) },
    always: { value, ci95: alwaysValidInterval(contrast, planned) },
  };
}

/** `after` minus `before`; less the same difference of the rest, if any. */
function differenceOf(before: ClusterSums, after: ClusterSums, rest: ClusterSums[] = []): Contrast {
  const factors = [-1, 1, 1, -1];
  return contrastOf([before, after, ...rest].map((sums, i) => ({ factor: factors[i]!, sums })));
}

function comparedKinds({ kinds }: TrialSums, all: readonly ArmSums[]): KindComparison[] {
  const found = kinds.flatMap(({ name, arms }) => {
    const parts = all.flatMap(({ arm, sessions }) => arms.filter((of) => of.arm === arm && of.sessions < sessions));
    return parts.length === 2 && parts.every(isEnough) ? [{ name, parts }] : [];
  });
  // Bonferroni.
  const alpha = 0.05 / (DECISIVE.length * found.length);
  const estimate = (contrast: Contrast, level?: number): Estimate | null =>
    Number.isFinite(contrast.value) ? { value: contrast.value, ci95: intervalOf(contrast, level) } : null;
  return found.map(({ name, parts }) => ({
    ...{ name, sessions: parts[0]!.sessions + parts[1]!.sessions },
    differences: DECISIVE.map(({ id }) => {
      const [before, after] = parts.map(({ metrics }) => metrics[id]!) as [ClusterSums, ClusterSums];
      const rest = all.map(({ metrics }, i) => without(metrics[id]!, i === 0 ? before : after));
      const isCompared = rest.every(({ sessions }) => sessions >= FEWEST_SESSIONS);
      const againstOthers = isCompared ? estimate(differenceOf(before, after, rest), alpha) : null;
      return [estimate(differenceOf(before, after)), againstOthers];
    }),
  }));
}

function without(all: ClusterSums, part: ClusterSums): ClusterSums {
  const rest = (of: 'x' | 'y') => all[of].map((sum, unit) => sum - part[of][unit]!);
  const scalars = (['sessions', 'xx', 'xy', 'yy'] as const).map((of) => [of, all[of] - part[of]]);
  return { ...(Object.fromEntries(scalars) as Omit<ClusterSums, 'x' | 'y'>), x: rest('x'), y: rest('y') };
}

/** Compares the shares of sessions with the planned ones. */
function shareWarnings(arms: readonly ArmSums[]): string[] {
  const x = arms[0]!.perUnit.map((_, unit) => arms.reduce((sum, { perUnit }) => sum + perUnit[unit]!, 0));
  const xx = arms.reduce((sum, { sessions }) => sum + sessions, 0);
  const planned = arms.reduce((sum, { plannedShares }) => sum + plannedShares[1], 0);
  return arms.flatMap(({ arm, perUnit: y, sessions: own, plannedShares: [least, most] }) => {
    if (least !== most)
      return [
        `The share of \`${arm}\` was changed during the trial: days differ, so compare the reports since then alone.`,
      ];
    const contrast = contrastOf([{ factor: 1, sums: { x, y, sessions: xx, xx, xy: own, yy: own } }]);
    const [low, high] = intervalOf(contrast, WRONG_SHARE_ALPHA) ?? [0, 1];
    const [share, wanted] = [contrast.value, most / planned].map((of) => `${(100 * of).toFixed(1)} %`);
    const meaning = 'which is not chance: reports are lost, or viewers stay away, in one arm more than in another';
    const isRight = low <= most / planned && most / planned <= high;
    return isRight ? [] : [`\`${arm}\` has ${share} of the sessions instead of ${wanted}, ${meaning}.`];
  });
}
