/** Means and ratios of many sessions from sums by cluster; README.md has the formulas. */

import { effectiveUnits } from './bootstrap.ts';
import { studentQuantile } from './student-t.ts';

/** Sums over the sessions of one arm. A mean of y is a ratio with x = 1. */
export interface ClusterSums {
  /** Sums by cluster, in the same order for all arms; 0 for clusters without sessions. */
  x: Float64Array;
  y: Float64Array;
  sessions: number;
  xx: number;
  xy: number;
  yy: number;
}

/** A ratio sum(y) / sum(x), and its factor in a contrast. */
export interface Term {
  factor: number;
  sums: ClusterSums;
}

/** A linear combination of ratios: a difference of two arms, or of two such differences. */
export interface Contrast {
  value: number;
  standardError: number;
  /** Effective number of clusters of the term that has the fewest. */
  clusters: number;
  sessions: number;
  /** The number of independent sessions that would give this standard error. */
  effectiveSessions: number;
}

export interface IntervalOptions {
  /** One minus the confidence. Default 0.05. */
  alpha?: number;
  /** Of always-valid intervals: the number of independent sessions at which they are narrowest. */
  plannedSessions: number;
}

export function ratioOf({ x, y }: Pick<ClusterSums, 'x' | 'y'>): number {
  return total(y) / total(x);
}

/** NaN where a term has no sessions. */
export function contrastOf(terms: readonly Term[]): Contrast {
  const scores = new Float64Array(terms[0]!.sums.x.length);
  let [value, clusters, sessions, sessionVariance] = [0, Number.POSITIVE_INFINITY, 0, 0];
  for (const { factor, sums } of terms) {
    const { x, y, xx, xy, yy } = sums;
    const [ratio, weight] = [ratioOf(sums), factor / total(x)];
    for (let c = 0; c < scores.length; c++) scores[c]! += weight * (y[c]! - ratio * x[c]!);
    value += factor * ratio;
    clusters = Math.min(clusters, effectiveUnits(x));
    sessions += sums.sessions;
    sessionVariance += weight * weight * Math.max(0, yy - 2 * ratio * xy + ratio * ratio * xx);
  }
  let squares = 0;
  for (const score of scores) squares += score * score;
  const variance = (clusters / (clusters - 1)) * squares;
  return {
    ...{ value, clusters, sessions, standardError: Math.sqrt(variance) },
    effectiveSessions: variance > 0 ? (sessions * sessionVariance) / variance : sessions,
  };
}

/** The interval for a single look; null with fewer than two clusters. */
export function intervalOf(contrast: Contrast, alpha = 0.05): [number, number] | null {
  return around(contrast, studentQuantile(1 - alpha / 2, Math.max(1, contrast.clusters - 1)));
}

/** Holds at all looks together: what a mixture sequential probability ratio test does not reject. */
export function alwaysValidInterval(
  contrast: Contrast,
  { alpha = 0.05, plannedSessions }: IntervalOptions,
): [number, number] | null {
  const surprise = -2 * Math.log(alpha);
  const growth = 1 + ((surprise + Math.log(surprise + 1)) * contrast.effectiveSessions) / plannedSessions;
  const degrees = contrast.clusters - 1;
  // exp((ln growth - 2 ln alpha) / clusters): from here on for few clusters, else its limit.
  const power = Math.exp((Math.log(growth) + surprise) / contrast.clusters);
  const square = (degrees * (power - 1)) / (1 - power / growth);
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
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
