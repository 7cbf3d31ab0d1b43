/** The arms of a trial against its control, metric by metric: the figures of the report and of the command. */

import {
  alwaysValidInterval,
  type ClusterSums,
  type Contrast,
  contrastOf,
  intervalOf,
  ratioOf,
} from '../../replay/evaluation/cluster-ratios.ts';
import type { Estimate } from '../../replay/results.ts';
import { METRICS, type Metric } from './metrics.ts';
import type { ArmSums, TrialSums } from './read-sums.ts';

/** An arm or a kind of sessions with fewer sessions is left out. */
const FEWEST_SESSIONS = 8;
/** Below this probability, chance does not explain the numbers of sessions. */
const WRONG_SHARE_ALPHA = 0.001;

export interface Comparison {
  metric: Metric;
  control: number;
  arm: number;
  contrast: Contrast;
  /** Arm minus control; holds at a single look. */
  difference: Estimate;
  /** The same at any number of looks, over all arms together. */
  always: Estimate;
}

export interface KindRow {
  title: string;
  value: string;
  sessions: number;
  comparisons: Comparison[];
  /** By metric: how far the difference is above that of all other sessions; holds for all rows together. */
  againstOthers: (Estimate | undefined)[];
}

export interface ArmComparison {
  arm: ArmSums;
  comparisons: Comparison[];
  kinds: KindRow[];
}

export interface TrialComparison {
  control: ArmSums;
  arms: ArmComparison[];
  /** Names of arms with too few sessions. */
  leftOut: string[];
  /** Sentences on arms whose number of sessions is not what was planned. */
  warnings: string[];
}

/** Metrics that decide, and are compared by kind of session. */
export const DECISIVE: readonly Metric[] = METRICS.filter(({ id }) => ['qoe', 'stalled', 'watched'].includes(id));

export interface CompareOptions {
  /** Default: the arm in which the player's own algorithm chose, else the first one. */
  control?: string | undefined;
  /** See `alwaysValidInterval`. */
  plannedSessions: number;
}

/** Undefined without two arms that have enough sessions. */
export function compareArms(sums: TrialSums, options: CompareOptions): TrialComparison | undefined {
  const enough = sums.arms.filter(isEnough);
  const share = ({ own, sessions }: ArmSums) => own / sessions;
  const first = [...enough].sort((a, b) => share(b) - share(a))[0];
  const control = enough.find(({ arm }) => arm === (options.control ?? first?.arm));
  if (control === undefined || enough.length < 2) return undefined;
  const others = enough.filter((arm) => arm !== control);
  const alpha = 0.05 / others.length;
  return {
    control,
    arms: others.map((arm) => ({
      arm,
      comparisons: METRICS.flatMap((metric) => compared(metric, control, arm, { ...options, alpha }) ?? []),
      kinds: kindRows(sums, [control, arm], options),
    })),
    leftOut: sums.arms.filter((arm) => !isEnough(arm)).map(({ arm }) => arm),
    warnings: shareWarnings(enough),
  };
}

function isEnough({ sessions, perUnit }: ArmSums): boolean {
  return sessions >= FEWEST_SESSIONS && perUnit.filter((count) => count > 0).length > 1;
}

type Planned = Pick<CompareOptions, 'plannedSessions'> & { alpha?: number };

/** Undefined if one of them has no value. */
function compared(metric: Metric, control: ArmSums, arm: ArmSums, options: Planned): Comparison | undefined {
  const [before, after] = [control, arm].map(({ metrics }) => metrics[metric.id]!) as [ClusterSums, ClusterSums];
  const contrast = contrastOf([
    { factor: 1, sums: after },
    { factor: -1, sums: before },
  ]);
  const { value } = contrast;
  if (!Number.isFinite(value)) return undefined;
  return {
    ...{ metric, contrast, control: ratioOf(before), arm: ratioOf(after) },
    difference: { value, ci95: intervalOf(contrast) },
    always: { value, ci95: alwaysValidInterval(contrast, options) },
  };
}

/** Each kind of sessions, and whether the difference is another one than in the others (Bonferroni over all rows). */
function kindRows({ groups }: TrialSums, [control, arm]: [ArmSums, ArmSums], options: CompareOptions): KindRow[] {
  const of = groups.flatMap(({ title, value, arms }) => {
    const pair = [control, arm].map((one) => arms.find((part) => part.arm === one.arm && isEnough(part)));
    const isPart = pair.every((part, i) => part && part.sessions < [control, arm][i]!.sessions);
    return isPart ? [{ title, value, pair: pair as [ArmSums, ArmSums] }] : [];
  });
  const alpha = 0.05 / (DECISIVE.length * of.length);
  return of.map(({ title, value, pair }) => ({
    ...{ title, value, sessions: pair[0].sessions + pair[1].sessions },
    comparisons: DECISIVE.flatMap((metric) => compared(metric, ...pair, options) ?? []),
    againstOthers: DECISIVE.map(({ id }) => {
      const parts = pair.map(({ metrics }) => metrics[id]!);
      const rest = [control, arm].map(({ metrics }, i) => without(metrics[id]!, parts[i]!));
      if (rest.some(({ sessions }) => sessions < FEWEST_SESSIONS)) return undefined;
      const terms = [...parts, ...rest].map((sums, i) => ({ factor: [-1, 1, 1, -1][i]!, sums }));
      const contrast = contrastOf(terms);
      return { value: contrast.value, ci95: intervalOf(contrast, alpha) };
    }),
  }));
}

function without(all: ClusterSums, part: ClusterSums): ClusterSums {
  const rest = (of: 'x' | 'y') => all[of].map((sum, unit) => sum - part[of][unit]!);
  const { sessions, xx, xy, yy } = all;
  const sums = { sessions: sessions - part.sessions, xx: xx - part.xx, xy: xy - part.xy, yy: yy - part.yy };
  return { ...sums, x: rest('x'), y: rest('y') };
}

/** Compares the shares of sessions with the planned ones: another share means lost reports or a wrong assignment. */
function shareWarnings(arms: readonly ArmSums[]): string[] {
  const x = arms[0]!.perUnit.map((_, unit) => arms.reduce((sum, { perUnit }) => sum + perUnit[unit]!, 0));
  const sessions = arms.reduce((sum, of) => sum + of.sessions, 0);
  const planned = arms.reduce((sum, { plannedShares }) => sum + plannedShares[1], 0);
  return arms.flatMap(({ arm, perUnit: y, sessions: own, plannedShares: [least, most] }) => {
    if (least !== most)
      return [`The share of \`${arm}\` was changed during the trial: use --from, because days differ.`];
    const contrast = contrastOf([{ factor: 1, sums: { x, y, sessions, xx: sessions, xy: own, yy: own } }]);
    const [low, high] = intervalOf(contrast, WRONG_SHARE_ALPHA) ?? [0, 1];
    const share = most / planned;
    return low <= share && share <= high
      ? []
      : [
          `\`${arm}\` has ${(100 * contrast.value).toFixed(1)} % of the sessions instead of ${(100 * share).toFixed(1)} %, ` +
            'which is not chance: reports are lost, or viewers stay away, in one arm more than in another.',
        ];
  });
}
