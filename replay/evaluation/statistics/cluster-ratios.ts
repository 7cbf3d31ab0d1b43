/** Means and ratios of many sessions from sums by cluster; README.md has the formulas. */

import { effectiveUnits } from './bootstrap.ts';
import { studentQuantile } from './student-t.ts';

/** Sums over an arm's sessions by cluster, in the same order for all arms. `sessions` includes those with x = 0. */
export type ClusterSums = { x: Float64Array; y: Float64Array; sessions: number };
export type Contrast = ReturnType<typeof contrastOf>;

/** Sessions at which always-valid intervals are narrowest. */
const PLANNED_SESSIONS = 10_000;

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

export function ratioOf({ x, y }: Pick<ClusterSums, 'x' | 'y'>): number {
  return total(y) / total(x);
}

/** An arm's ratio less the control's, if given; NaN without sessions. `clusters`: the smaller effective number. */
export function contrastOf(arm: ClusterSums, control?: ClusterSums) {
  const signed = [{ ...arm, sign: 1 }, ...(control ? [{ ...control, sign: -1 }] : [])];
  const terms = signed.map((sums) => ({ ...sums, ratio: ratioOf(sums), weight: sums.sign / total(sums.x) }));
  const scores = arm.x.map((_, c) =>
    terms.reduce((score, { x, y, ratio, weight }) => score + weight * (y[c]! - ratio * x[c]!), 0),
  );
  const squares = total(scores.map((score) => score * score));
  const clusters = Math.min(...terms.map(({ x }) => effectiveUnits(x)));
  return {
    value: terms.reduce((sum, { sign, ratio }) => sum + sign * ratio, 0),
    standardError: Math.sqrt((clusters / (clusters - 1)) * squares),
    clusters,
    sessions: terms.reduce((sum, { sessions }) => sum + sessions, 0),
  };
}

/** The interval for a single look; null with fewer than two clusters. */
export function intervalOf(contrast: Contrast, alpha = 0.05): [number, number] | null {
  return around(contrast, studentQuantile(1 - alpha / 2, Math.max(1, contrast.clusters - 1)));
}

/** The interval for any number of looks: what a mixture sequential probability ratio test does not reject. */
export function alwaysValidInterval(contrast: Contrast, alpha = 0.05): [number, number] | null {
  const { clusters, sessions } = contrast;
  const surprise = -2 * Math.log(alpha);
  const growth = 1 + ((surprise + Math.log(surprise + 1)) * sessions) / PLANNED_SESSIONS;
  // exp((ln growth - 2 ln alpha) / clusters)
  const power = Math.exp((Math.log(growth) + surprise) / clusters);
  const square = ((clusters - 1) * (power - 1)) / (1 - power / growth);
  return power < growth ? around(contrast, Math.sqrt(square)) : null;
}

function around({ value, standardError, clusters }: Contrast, errors: number): [number, number] | null {
  if (!(clusters > 1) || !Number.isFinite(value) || !Number.isFinite(standardError)) return null;
  return [value - errors * standardError, value + errors * standardError];
}

/** Sessions for which a difference of this size is found with a probability of 80 %, at a single look. */
export function sessionsToFind(difference: number, { standardError, sessions }: Contrast): number {
  // Quantiles of the normal distribution at 97.5 and 80 %.
  return sessions * (((1.959964 + 0.841621) * standardError) / difference) ** 2;
}
