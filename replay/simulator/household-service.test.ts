/** Households whose players use the prediction service. */

import { describe, expect, test } from '@jest/globals';
import { HOUSEHOLDS } from '../households.ts';
import type { SessionResult } from '../results.ts';
import { resolveScenario } from '../scenario-file.ts';
import { SCENARIOS } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { simulatedAlgorithm } from './algorithms.ts';
import { playHousehold } from './play-household.ts';

/** 40 Mbit/s with some waves. */
const trace: Trace = {
  name: 'waves',
  stepEndsSeconds: Float64Array.from({ length: 300 }, (_, i) => i + 1),
  ratesBps: Float64Array.from({ length: 300 }, (_, i) => 40e6 * (1 + 0.3 * Math.sin(i / 7))),
  durationSeconds: 300,
  metadata: { dataset: 'service', recordingGroup: 'service' },
};
const scenario = resolveScenario({ ...SCENARIOS['hd-16']!, traceScale: { factor: 1 } });

function play(algorithm: string, household: string): SessionResult[] {
  const task = { trace, scenario, startSeconds: 0, segmentCount: 30, seed: 1, timings: false };
  return playHousehold(HOUSEHOLDS[household]!, task, { algorithm, algorithmOf: simulatedAlgorithm });
}

/** Seconds during which two downloads or more were in flight, from second 30 of the household on. */
function overlapSeconds(sessions: readonly SessionResult[]): number {
  const flights = sessions.flatMap(({ segments, household }) =>
    segments.map((row) => {
      const from = row.requestedAtSeconds + household!.joinSeconds;
      return { from, to: from + row.downloadSeconds };
    }),
  );
  let seconds = 0;
  for (let at = 30; at < 110; at += 0.01) {
    if (flights.filter(({ from, to }) => from <= at && at < to).length > 1) seconds += 0.01;
  }
  return seconds;
}

describe('players with the service', () => {
  test('take turns', () => {
    const without = play('mpc-l', 'four');
    const withIt = play('mpc-l@service', 'four');
    expect(overlapSeconds(without)).toBeGreaterThan(40);
    expect(overlapSeconds(withIt)).toBeLessThan(0.5 * overlapSeconds(without));
  });

  test('plan with its share, and the others of a mixed household play as ever', () => {
    const [first, second, third] = play('mpc-l@service', 'mixed');
    for (const { segments, algorithm } of [first!, second!]) {
      expect(algorithm).toBe('mpc-l@service');
      expect(segments.filter(({ reason }) => reason.startsWith('service')).length).toBeGreaterThan(12);
    }
    expect(third!.algorithm).toBe('bola');
  });
});

test.each(['dies', 'late', 'high'])('a service that has the fault %s is ignored', (fault) => {
  const rows = play(`mpc-l@service:${fault}`, 'four').flatMap(({ segments, household }) =>
    segments.filter(({ requestedAtSeconds }) => requestedAtSeconds + household!.joinSeconds > 62),
  );
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.filter(({ reason }) => reason.startsWith('service')).length).toBeLessThan(0.2 * rows.length);
});
