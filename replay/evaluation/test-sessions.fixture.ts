/** Small artificial traces, scenarios, sessions and results for tests. */

import type { LiveMetrics, ResolvedScenario, Results, SessionResult } from '../results.ts';
import { SCENARIOS, segmentSizesBits } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { assembleResults } from './documents/assemble-results.ts';
import { summarise } from './summary.ts';

export function testTrace(name: string, durationSeconds: number, dataset = 'set', recordingGroup = 'group'): Trace {
  const rates = { stepEndsSeconds: Float64Array.of(durationSeconds), ratesBps: Float64Array.of(20e6) };
  return { name, ...rates, durationSeconds, metadata: { dataset, recordingGroup } };
}

export function testScenario(name = 'uhd-8'): ResolvedScenario {
  const scenario = SCENARIOS[name]!;
  return { ...scenario, segmentSizesBits: segmentSizesBits(scenario) };
}

const TIMES = { requestedAtSeconds: 0, downloadSeconds: 1, bufferLevelSeconds: 0, stallSeconds: 0 };
const SEGMENT = { index: 0, bitrateBps: 3e6, sizeBits: 12e6, ...TIMES, abandonedBits: 0, reason: 'start' };
const PLACE = { trace: 'trace', dataset: 'set', group: 'group', startSeconds: 0, algorithm: 'mpc-d', seed: 7 };
const STALLS = { stallSeconds: 0, stallCount: 0, freezeCount: 0, shortFreezeCount: 0 };
const UNDISTURBED = { ...STALLS, startupSeconds: 1, switches: 0, switchBps: 0, wastedBits: 0 };

export function testSession(fields: Partial<SessionResult> & { qoeLinear?: number } = {}): SessionResult {
  const { qoeLinear = 10, ...rest } = fields;
  const qoe = { linear: qoeLinear, log: qoeLinear / 30, hd: null, perceived: qoeLinear / 2 };
  const played = { endedBy: 'end' as const, segments: [{ ...SEGMENT }], qoe, meanBitrateBps: 3e6 };
  return { ...PLACE, ...played, ...UNDISTURBED, ...rest };
}

export function testLiveMetrics(fields: Partial<LiveMetrics> = {}): LiveMetrics {
  const latency = { latencySecondsMean: 1.25, latencySecondsP95: 1.5 };
  const stalls = { stallSecondsPerMinute: 0.5, stallsPerMinute: 0.75 };
  const rates = { offRateShare: 0.25, rateDeviationMean: 0.02 };
  return { qoe: 20, watchedSeconds: 120, ...latency, ...stalls, ...rates, jumps: 1, ...fields };
}

/** A summary against MPC-D. */
export function testSummary(sessions: SessionResult[], more: { seed?: number; resamples?: number } = {}) {
  const scenario = { ladderBps: [3e6, 120e6], segmentSeconds: 4, segmentCount: 48, mu: 4.3, lambda: 1 };
  return summarise(sessions, { scenario, baseline: 'mpc-d', resamples: 500, ...more });
}

const TOOL = { name: 'leo-abr-tools', version: '0', command: 'simulate', commit: null, seed: 1, baseline: 'mpc-d' };

/** Results; the scenario is live if the sessions are. */
export function testResults(sessions: SessionResult[], tool: Partial<Results['tool']> = {}): Results {
  return assembleResults({
    tool: { ...TOOL, ...tool },
    scenario: testScenario(sessions[0]?.live && 'live-uhd-1'),
    sessions,
  });
}
