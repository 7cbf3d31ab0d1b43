/** Draws trials from simulated sessions on the shipped links, whose true difference is known. */

import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../abr/random.ts';
import { readTraces } from '../formats/trace-files.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import { sessionPlayer } from '../simulator/run-sessions.ts';
import { type ClusterSums, type Contrast, contrastOf } from './cluster-ratios.ts';

const CLUSTERS = 1000;
const SESSIONS_PER_VIEWER = 3;
/** Viewers leave after so many segments. */
const WATCHED_SEGMENTS = [4, 10, 24, 48];

/** x and y of a session, by metric. */
const METRICS = {
  qoe: ({ watched, qoe }: Played) => [watched, watched * qoe],
  stalled: ({ watched, stalled }: Played) => [watched + stalled, stalled],
  stallsPerSession: ({ stalled }: Played) => [1, stalled],
} as const;
export type DrawnMetric = keyof typeof METRICS;
export const DRAWN_METRICS = Object.keys(METRICS) as DrawnMetric[];

type Played = { watched: number; stalled: number; qoe: number };

/** By link: the sessions of both arms from the same starts. */
export type Pool = { control: Played; arm: Played }[][];

/** Plays `starts` sessions of both algorithms on every shipped link. */
export function playPool(starts: number, algorithms: { control: string; arm: string }): Pool {
  const traces = readTraces([fileURLToPath(new URL('../traces', import.meta.url))], { onNote: () => {} });
  const scenario = resolveScenario(scenarioNamed('hd-16'));
  const player = sessionPlayer({ scenario, controllers: new Map() });
  return traces.map((trace) =>
    Array.from({ length: starts }, (_, i) => {
      const startSeconds = Math.round((i * trace.durationSeconds) / starts);
      const segmentCount = WATCHED_SEGMENTS[i % WATCHED_SEGMENTS.length]!;
      const play = (algorithm: string): Played => {
        const { segments, stallSeconds, qoe } = player({ trace, startSeconds, segmentCount, seed: i, algorithm })[0]!;
        return { watched: segments.length * scenario.segmentSeconds, stalled: stallSeconds, qoe: qoe.linear };
      };
      return { control: play(algorithms.control), arm: play(algorithms.arm) };
    }),
  );
}

/** The difference between the arms if every viewer were in both: viewers have links, and links starts, with equal chance. */
export function truthOf(pool: Pool, metric: DrawnMetric): number {
  const expected = (of: 'control' | 'arm') => {
    const values = pool.flatMap((sessions) => sessions.map((both) => METRICS[metric](both[of])));
    return values.reduce((sum, [, y]) => sum + y!, 0) / values.reduce((sum, [x]) => sum + x!, 0);
  };
  return expected('arm') - expected('control');
}

/**
 * One trial: sessions of viewers, each with a link, a cluster and an arm. Calls `look` after every `every` sessions with
 * the contrast of each metric.
 */
export function drawTrial(
  { pool, sessions, every, seed }: { pool: Pool; sessions: number; every: number; seed: number },
  look: (contrasts: Record<DrawnMetric, Contrast>, sessions: number) => void,
): void {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const viewers = Array.from({ length: Math.ceil(sessions / SESSIONS_PER_VIEWER) }, () => ({
    link: pool[pick(pool.length)]!,
    cluster: pick(CLUSTERS),
    arm: random() < 0.5 ? ('arm' as const) : ('control' as const),
  }));
  const arms = { control: newSums(), arm: newSums() };
  for (let n = 1; n <= sessions; n++) {
    const { link, cluster, arm } = viewers[pick(viewers.length)]!;
    const session = link[pick(link.length)]![arm];
    for (const metric of DRAWN_METRICS) {
      const sums = arms[arm][metric];
      const [x, y] = METRICS[metric](session) as [number, number];
      sums.x[cluster]! += x;
      sums.y[cluster]! += y;
      sums.sessions++;
    }
    if (n % every !== 0) continue;
    const contrasts = DRAWN_METRICS.map((metric) => [metric, contrastOf(arms.arm[metric], arms.control[metric])]);
    look(Object.fromEntries(contrasts), n);
  }
}

function newSums(): Record<DrawnMetric, ClusterSums> {
  const sums = () => ({ x: new Float64Array(CLUSTERS), y: new Float64Array(CLUSTERS), sessions: 0 });
  return { qoe: sums(), stalled: sums(), stallsPerSession: sums() };
}
