/** Runs the benchmark's runner from end to end on small sessions: records are consistent, decisions reproducible. */

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { onnxModels } from '../cli/benchmark/onnx-models.ts';
import { serviceOn } from '../cli/serve/link-services.ts';
import { SHIPPED_FILE } from '../predictor/forecast/shipped-file.fixture.ts';
import type { BenchPart } from '../replay/browser/bench-notes.ts';
import { decidedAgain } from '../replay/browser/record/decided-again.fixture.ts';
import type { DecisionRecord } from '../replay/browser/record/decisions.ts';
import type { PlayedRecord } from '../replay/browser/record/session-record.ts';
import { type BenchOptions, runBench } from '../replay/browser/run-bench.ts';
import { bundleAlgorithms } from '../replay/bundle-algorithms.ts';
import type { PlannedSession } from '../replay/evaluation/plan/plan.ts';
import { householdNamed, parseHousehold } from '../replay/households.ts';
import { importOwnAlgorithms } from '../replay/own-algorithm.ts';
import type { ResolvedScenario, SeatInHousehold } from '../replay/results.ts';
import { SCENARIOS, type Scenario, segmentSizesBits } from '../replay/scenarios.ts';
import type { Trace } from '../replay/trace.ts';
import { KernelLink } from '../transport/kernel-link.ts';
import { NO_IMPAIRMENT } from '../transport/kernel-steps.ts';
import { allowCongestionControl, kernelTierObstacle } from '../transport/programs.ts';
import { builtFolder, ROOT, TIMING } from './builds.ts';

const TEMPLATE = join(ROOT, 'docs/examples/my-algorithm.ts');
/** Times in page and origin differ by this much at most, because a host may pause for a second. */
const STANDSTILL_SECONDS = 1.5;

const short: Scenario = {
  ...{ ...SCENARIOS['pensieve-60']!, name: 'short', ladderBps: [300e3, 750e3, 1.2e6, 2e6], mu: 2 },
  ...{ segmentSeconds: 2, segmentCount: 7, bufferCapSeconds: 6, traceScale: { factor: 1 } },
};
const scenario: ResolvedScenario = { ...short, segmentSizesBits: segmentSizesBits(short) };

/** The link drops from 6 Mbit/s to almost nothing for 10.5 s, so that every algorithm stalls. */
const trace: Trace = {
  ...{ name: 'hole', stepEndsSeconds: Float64Array.of(3.5, 14, 60), durationSeconds: 60 },
  ratesBps: Float64Array.of(6e6, 0.15e6, 6e6),
  metadata: { dataset: 'made up', recordingGroup: 'desk', startUtcMs: Date.UTC(2025, 5, 1) },
};
const steady = (bps: number): Trace => ({ ...trace, ratesBps: trace.ratesBps.map(() => bps) });
const STEADY = steady(6e6);

/** A live stream of the same ladder. The players join it at second 6 of the media. */
function liveScenario(segmentCount: number, chunkSeconds: number): ResolvedScenario {
  return {
    ...{ ...scenario, segmentCount, segmentSizesBits: segmentSizesBits({ ...short, segmentCount }) },
    live: { chunkSeconds, encoderLatencySeconds: 0.3, targetLatencySeconds: 2, timeShiftSeconds: 6 },
  };
}

test.beforeAll(() => void builtFolder('bench-page'));

/** Plays a session of each algorithm once, because the machine's load does not matter here. */
async function play(
  algorithms: readonly string[],
  planned: Partial<PlannedSession>,
  options: Partial<BenchOptions> = {},
): Promise<PlayedRecord[]> {
  const played: PlayedRecord[] = [];
  await runBench({
    sessions: algorithms.map((algorithm) => {
      return { trace, startSeconds: 2, segmentCount: 7, algorithm, seed: 3, ...planned };
    }),
    ...{ scenario, pageDirectory: builtFolder('bench-page'), lateShare: 1 },
    onPlayed: (sessions) => void played.push(...sessions),
    ...options,
  });
  return played;
}

/** The session has played to its end, and page, trace and origin agree on its data. */
function expectConsistent({ result, record, inconsistencies, timings, originLog }: PlayedRecord): void {
  // If the host pauses, the playhead does, too.
  const found = inconsistencies.filter((one) => !/^the playhead lost 0\.\d+ s/.test(one));
  expect([record.fault, result.endedBy, found]).toEqual([undefined, 'end', []]);
  // Nothing arrives before encoder and link deliver it. The clocks of both processes are equal, but not exactly.
  for (const { measuredSeconds, prescribedSeconds } of timings) {
    expect(measuredSeconds).toBeGreaterThan(prescribedSeconds - 0.02);
  }
  expect(originLog.filter(({ kind }) => kind === 'segment')).toHaveLength(record.requests.length);
}

test('MPC-L is as its name says; a session that dash.js never ends is over at its last picture', async ({}, info) => {
  const pageDirectory = info.outputPath('page');
  cpSync(builtFolder('bench-page'), pageDirectory, { recursive: true });
  const html = readFileSync(`${pageDirectory}/index.html`, 'utf8');
  const endless = '<script>MediaSource.prototype.endOfStream = () => {}</script>';
  writeFileSync(`${pageDirectory}/index.html`, html.replace('<head>', `<head>${endless}`));
  // Its forecasts show that the page used this model.
  const models = { desk: { ...SHIPPED_FILE, rankCorrelation: 0.5 } };
  const algorithms = ['mpc-l', 'mpc-l@shipped', 'mpc-l@oracle', 'mpc-l:saves-2'];
  const planned = { trace: STEADY, startSeconds: 0, segmentCount: 3 };
  const played = await play(algorithms, planned, { models, pageDirectory });
  expect(played[1]!.record).toMatchObject({ endedBy: 'end', stalls: [] });
  const [own, shipped, oracle, saves] = played.map(({ record }) => record.decisions) as DecisionRecord[][];
  const correlationOf = (decisions: DecisionRecord[]) =>
    decisions.flatMap(({ forecast = {} }) => ('rankCorrelation' in forecast ? [forecast.rankCorrelation] : [])).at(-1);
  expect([own!, shipped!].map(correlationOf)).toEqual([0.5, SHIPPED_FILE.rankCorrelation]);
  expect(oracle!.map(({ decision }) => decision.forecastSource)).toEqual(oracle!.map(() => 'oracle'));
  const pricesOf = (decisions: DecisionRecord[]) => decisions.map(({ weights }) => weights.pricePerMbps);
  expect([...pricesOf(oracle!), ...pricesOf(saves!)]).toEqual([...oracle!.map(() => 0.1), ...saves!.map(() => 2)]);
});

test('forecasts of an ONNX model and of a service on the link', TIMING, async () => {
  test.setTimeout(180_000);
  const onnx = await onnxModels(['onnx'], '--algorithms');
  const planned = { trace: STEADY, startSeconds: 0 };
  const running = { started: 0, closed: 0 };
  const startService = async (session: Parameters<typeof serviceOn>[0]) => {
    running.started++;
    const service = await serviceOn(session);
    return { url: service.url, close: () => service.close().finally(() => running.closed++) };
  };
  const sourcesOf = ({ record }: PlayedRecord) => record.decisions.map(({ decision }) => decision.forecastSource);
  const played = await play(['mpc-l@onnx', 'mpc-l@service'], planned, { onnx, startService });
  for (const session of played) expectConsistent(session);
  expect(running).toEqual({ started: 1, closed: 1 });
  // Early decisions have no forecast, because evidence is missing and the first evaluation takes a moment.
  expect(sourcesOf(played[0]!).at(-1)).toMatch(/^model:/);
  // If the host pauses, the player measures another link than the service forecasts.
  expect(sourcesOf(played[1]!)).toContain('service');
});

test('sessions of the plugin, the oracle, an algorithm from a file and players themselves', async () => {
  test.setTimeout(120_000);
  const givesUp = './gives-up.js';
  const source = `export const createController = () => ({
    name: 'gives-up',
    decide: ({ ladderBps }) => ({ representation: ladderBps.length - 1, controller: 'gives-up', reason: '' }),
    reconsider({ nowSeconds }) {
      if (nowSeconds > 9) throw new Error('enough');
      return 'keep';
    },
  });`;
  const own = [...(await bundleAlgorithms([TEMPLATE])), { name: givesUp, source }];
  const ownControllers = await importOwnAlgorithms(own);
  const inDash = ['mpc-d', 'mpc-l', 'mpc-o', TEMPLATE, 'dynamic'];
  const algorithms = [
    ...inDash,
    `${TEMPLATE}@hls`,
    'mpc-o@hls',
    'hls@hls',
    `${TEMPLATE}@shaka`,
    'shaka@shaka',
    givesUp,
  ];
  const parts: BenchPart[] = [];
  const onPart = (part: BenchPart) => void parts.push(part);
  const played = await play(algorithms, {}, { own, timings: true, onPart, contexts: algorithms.length });
  expect(played.map(({ planned }) => planned.algorithm)).toEqual(algorithms);

  await test.step('the environment is recorded', () => {
    const [part] = parts;
    expect(parts.length).toBe(1);
    expect(part!.sessions + part!.rejections.length).toBe(algorithms.length);
    expect(part!.environment).toMatchObject({ node: process.version, browser: expect.stringMatching(/^\d+\./) });
    expect(Date.parse(part!.endedAt)).toBeGreaterThan(Date.parse(part!.startedAt));
  });

  await test.step('a session that ends by a fault in a stall has this stall', () => {
    const { result } = played.pop()!;
    expect(result.endedBy).toBe('fault');
    // The buffer is empty before second 8.
    expect(result.stallSeconds).toBeGreaterThan(1);
  });

  for (const session of played) {
    await test.step(session.planned.algorithm, () => {
      expectConsistent(session);
      const { planned, record, result, timings } = session;
      expect(result.segments.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(result.stallCount).toBeGreaterThan(0);
      if (planned.algorithm.startsWith('mpc-o')) expect(record.oracleOffsetSeconds).toBeCloseTo(2, 1);
      if (!inDash.includes(planned.algorithm)) {
        expect(record.playerVersion).toMatch(planned.algorithm.endsWith('@hls') ? /^1\./ : /^v5\./);
        expect(record.decisions.length > 0).toBe(!/^(hls|shaka)@/.test(planned.algorithm));
        return;
      }
      expect(result).toMatchObject({ trace: 'hole', dataset: 'made up', group: 'desk', startSeconds: 2 });
      expect(result.segments[0]).toMatchObject({ requestedAtSeconds: 0, bufferLevelSeconds: 0 });
      for (const { index, bitrateBps, sizeBits } of result.segments) {
        expect(sizeBits).toBe(scenario.segmentSizesBits[index]![scenario.ladderBps.indexOf(bitrateBps)]);
      }
      expect(result.startupSeconds).toBeGreaterThan(scenario.rttSeconds);
      expect(timings.length).toBe(7);
    });
  }

  // The controller repeats its decisions on the logged inputs. The oracle's path is not logged.
  for (const { planned, record } of JSON.parse(JSON.stringify(played)) as PlayedRecord[]) {
    if (record.decisions.length === 0) continue;
    const pairs = decidedAgain(record.decisions, planned, ownControllers);
    expect(pairs.map(([, again]) => again)).toEqual(pairs.map(([recorded]) => recorded));
    expect(pairs.length).toBe(planned.algorithm.startsWith('mpc-o') ? 0 : record.decisions.length);
  }
  const oracle = played.find(({ planned }) => planned.algorithm === 'mpc-o')!.record;
  expect(oracle.decisions.map(({ forecast }) => forecast?.source)).toEqual(Array(7).fill('oracle'));
  const utc = oracle.decisions.at(-1)!.state;
  expect(utc.utcMs! - utc.nowSeconds * 1000).toBeCloseTo(Date.UTC(2025, 5, 1) + 2000, -2);
});

test('a household on one link watches live until the encoder ends', async () => {
  const segmentCount = 11;
  const algorithm = 'mpc-d:lolp-catch-up';
  // 6 Mbit/s throughout.
  const planned = { startSeconds: 15, segmentCount, household: householdNamed('two') };
  const sessions = await play([algorithm], planned, { scenario: liveScenario(segmentCount, 0.5) });
  expect(sessions.map(({ rejected }) => rejected)).toEqual([undefined, undefined]);
  let bits = 0;
  let endSeconds = 0;
  for (const [player, session] of sessions.entries()) {
    expectConsistent(session);
    const { result, record, originLog } = session;
    expect(result).toMatchObject({ startSeconds: 15, algorithm, seed: 3 + player });
    expect(result.household).toMatchObject({ name: 'two', algorithm, player });
    const { joinSeconds } = result.household!;
    expect(Math.abs(joinSeconds - [0, 5.3][player]!)).toBeLessThan(player === 0 ? 0.001 : STANDSTILL_SECONDS);
    expect(result.startupSeconds).toBeLessThan(2 + STANDSTILL_SECONDS);
    // The plugin's second 0 is its first request for a segment, after the first decision.
    const states = record.decisions.map(({ state }) => state).filter(({ nowSeconds }) => nowSeconds > 0);
    const zeroMs = Date.UTC(2025, 5, 1) + 1000 * (15 + joinSeconds + record.requests[0]!.requestedAtSeconds);
    const errors = states.map(({ utcMs, nowSeconds }) => (utcMs! - zeroMs) / 1000 - nowSeconds);
    expect(errors.length).toBeGreaterThan(3);
    expect(Math.max(...errors) - Math.min(...errors)).toBeLessThan(0.05);
    // The host may pause between a request in the page and its arrival at the origin.
    expect(Math.abs(errors[0]!)).toBeLessThan(STANDSTILL_SECONDS);
    bits += originLog.reduce((sum, { sentBytes }) => sum + 8 * sentBytes, 0);
    endSeconds = Math.max(endSeconds, ...originLog.map(({ endedAtSeconds }) => endedAtSeconds!));
    // The join is at second 6 of the media, the target 2 s before it.
    const indices = result.segments.map(({ index }) => index);
    expect(indices).toEqual(Array.from(indices, (_, i) => indices[0]! + i));
    expect(indices[0]).toBeGreaterThanOrEqual(2);
    const { watchedSeconds, latencySecondsMean } = result.live!;
    expect(watchedSeconds).toBeCloseTo(record.live!.endSeconds - record.startupSeconds!, 3);
    // A chunk is complete 0.8 s after its capture at the earliest.
    expect(latencySecondsMean).toBeGreaterThan(0.8);
    expect(latencySecondsMean).toBeLessThan(4);
    // Both end with the encoder.
    expect(Math.abs(joinSeconds + record.live!.endSeconds - 16)).toBeLessThan(STANDSTILL_SECONDS);
  }
  const linkBits = 6e6 * short.payloadShare * endSeconds;
  expect(bits).toBeLessThan(linkBits);
  const [one, other] = sessions.map(({ result }) => result.household!.linkUtilisation) as [number, number];
  expect(one).toBeCloseTo(bits / linkBits, 1);
  expect(other).toBe(one);
});

test('live in hls.js on a fast link: no byte twice, few stalls, at the target', TIMING, async () => {
  test.setTimeout(120_000);
  const segmentCount = 11;
  const live = liveScenario(segmentCount, 0.25);
  /** Each segment has another quality, and hls.js must not load the end of the previous segment again. */
  const everyTime = './every-time.js';
  const source = `export const createController = () => ({
    name: 'every-time',
    decide: ({ segmentIndex, ladderBps }) => ({
      representation: segmentIndex % ladderBps.length, controller: 'every-time', reason: '',
    }),
  });`;
  const played = await play(
    [`${everyTime}@hls`, 'mpc-l@hls', 'hls@hls'],
    { trace: steady(100e6), startSeconds: 0, segmentCount },
    { scenario: live, own: [{ name: everyTime, source }] },
  );
  expect(played.length).toBe(3);
  for (const { planned, record, inconsistencies, originLog } of played) {
    await test.step(planned.algorithm, () => {
      // Media that were loaded twice are counted below in bytes.
      const others = inconsistencies.filter((one) => !/was loaded/.test(one));
      expect([record.endedBy, record.fault, others]).toEqual(['end', undefined, []]);
      const loaded = new Map<number, { shares: number; levels: Set<string> }>();
      for (const { segmentIndex, representationId, sentBytes } of originLog) {
        if (segmentIndex === undefined) continue;
        const one = loaded.get(segmentIndex) ?? { shares: 0, levels: new Set() };
        const representation = Number(representationId.replace('video-', ''));
        one.shares += (sentBytes * 8) / live.segmentSizesBits[segmentIndex]![representation]!;
        loaded.set(segmentIndex, { ...one, levels: one.levels.add(representationId) });
      }
      for (const [index, { shares, levels }] of loaded) {
        // hls.js's own ABR may change the quality within a segment from the last key frame on, a second at most.
        const ofSegment = record.decisions.filter(({ state }) => state.segmentIndex === index);
        const abandonments = ofSegment.filter(({ kind }) => kind === 'abandon').length;
        const mayAgain = planned.algorithm === 'hls@hls' ? 0.5 * (levels.size - 1) : abandonments;
        expect(shares, `segment ${index} of ${[...levels]}`).toBeLessThan(1 + mayAgain + 1e-3);
      }
      const stalls = record.stalls.filter(({ startSeconds }) => startSeconds > 5);
      const stalledSeconds = stalls.reduce((sum, one) => sum + one.endSeconds - one.startSeconds, 0);
      // If parts are loaded twice or late, playback stalls at every segment. A busy host causes few stalls.
      expect(stalledSeconds).toBeLessThan(0.25 * segmentCount);
      const { endSeconds, positions } = record.live!;
      const { atSeconds, mediaSeconds, rate } = positions.at(-1)!;
      const latencySeconds = endSeconds + 6 - mediaSeconds - rate * (endSeconds - atSeconds);
      expect(Math.abs(latencySeconds - 2), `latency ${latencySeconds}`).toBeLessThan(0.5 + stalledSeconds);
      if (planned.algorithm.startsWith(everyTime)) {
        const ids = record.requests.map(({ representationId }) => representationId);
        expect(new Set(ids).size).toBe(live.ladderBps.length);
      }
    });
  }
});

test("a household behind the kernel's TCP", async () => {
  const obstacle = kernelTierObstacle() ?? allowCongestionControl('cubic');
  test.skip(obstacle !== undefined, obstacle);
  const text = '{ "players": [{}, { "joinSeconds": 3 }], "traffic": [{ "fromSeconds": 0, "toSeconds": 9 }] }';
  const household = parseHousehold(text, 'h.json');
  const tier = { tier: 'kernel', congestionControl: 'cubic', impairment: NO_IMPAIRMENT } as const;
  const startLink = (played: ResolvedScenario) => KernelLink.start(tier, played);
  const played = await play(['mpc-d'], { startSeconds: 15, segmentCount: 3, household }, { startLink });
  expect(played.map(({ result }) => result.endedBy)).toEqual(['end', 'end']);
  expect(played.flatMap(({ inconsistencies }) => inconsistencies)).toEqual([]);
  const [first, second] = played.map(({ result }) => result.household!) as [SeatInHousehold, SeatInHousehold];
  expect(second.joinSeconds - first.joinSeconds).toBeGreaterThan(3);
  const bits = played.flatMap(({ record }) => record.requests).reduce((sum, one) => sum + one.receivedBits, 0);
  expect(played[0]!.linkStatistics!.bytes * 8).toBeGreaterThan(1.5 * bits);
  expect(played[0]!.result.startupSeconds).toBeGreaterThan(scenario.rttSeconds);
  expect(first.linkUtilisation).toBeGreaterThan(0.4);
  expect(first.linkUtilisation).toBeLessThan(1);
});
