/** Means and ratios of many sessions from sums by cluster; README.md has the formulas. */

import { effectiveUnits } from './bootstrap.ts';
import { studentQuantile } from './student-t.ts';

/** Sums over the sessions of one arm, by cluster: in the same order for all arms. A mean of y is a ratio with x = 1. */
export interface ClusterSums {
  x: Float64Array;
  y: Float64Array;
  /** Also those with x = 0. */
  sessions: number;
}

/** A ratio, or the difference of two. */
export interface Contrast {
  value: number;
  standardError: number;
  /** Effective number of clusters of the ratio that has the fewest. */
  clusters: number;
  sessions: number;
}

/** Sessions at which always-valid intervals are narrowest. */
const PLANNED_SESSIONS = 10_000;

export function ratioOf({ x, y }: Pick<ClusterSums, 'x' | 'y'>): number {
  return total(y) / total(x);
}

/** The ratio of an arm, less that of the control if there is one. NaN without sessions. */
export function contrastOf(arm: ClusterSums, control?: ClusterSums): Contrast {
  const scores = new Float64Array(arm.x.length);
  let [value, clusters, sessions] = [0, Number.POSITIVE_INFINITY, 0];
  for (const [sums, sign] of [[arm, 1] as const, ...(control ? [[control, -1] as const] : [])]) {
    const { x, y } = sums;
    const [ratio, weight] = [ratioOf(sums), sign / total(x)];
    for (let c = 0; c < scores.length; c++) scores[c]! += weight * (y[c]! - ratio * x[c]!);
    value += sign * ratio;
    clusters = Math.min(clusters, effectiveUnits(x));
    sessions += sums.sessions;
  }
  const squares = scores.reduce((sum, score) => sum + score * score, 0);
  return { value, clusters, sessions, standardError: Math.sqrt((clusters / (clusters - 1)) * squares) };
}

/** The interval for a single look; null with fewer than two clusters. */
export function intervalOf(contrast: Contrast, alpha = 0.05): [number, number] | null {
  return around(contrast, studentQuantile(1 - alpha / 2, Math.max(1, contrast.clusters - 1)));
}

/** Holds at all looks together: what a mixture sequential probability ratio test does not reject. */
export function alwaysValidInterval(contrast: Contrast, alpha = 0.05): [number, number] | null {
  const { clusters, sessions } = contrast;
  const surprise = -2 * Math.log(alpha);
  const growth = 1 + ((surprise + Math.log(surprise + 1)) * sessions) / PLANNED_SESSIONS;
  // exp((ln growth - 2 ln alpha) / clusters): from here on for few clusters, else its limit.
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

function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
