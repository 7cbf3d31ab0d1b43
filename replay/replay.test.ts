import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PathForecast, QuantileForecast } from '../abr/index.ts';
import { between, forAll } from '../abr/property.fixture.ts';
import { parseAlgorithm } from './algorithms.ts';
import { type CatchUp, type CatchUpSituation, catchUpRate } from './catch-up.ts';
import { householdNamed, parseHousehold } from './households.ts';
import { scenarioWeights } from './objective.ts';
import { browserOracle } from './oracle/browser-oracle.ts';
import { importOwnAlgorithms, isOwnAlgorithm } from './own-algorithm.ts';
import { parseScenario, resolveScenario, scenarioNamed } from './scenario-file.ts';
import { assumedLink, MEASURED_BROWSER, SCENARIOS } from './scenarios.ts';

const MINIMAL = { ladderBps: [1e6, 2e6], segmentSeconds: 4, segmentCount: 3, bufferCapSeconds: 12, rttSeconds: 0.05 };

function parse(scenario: unknown) {
  return parseScenario(typeof scenario === 'string' ? scenario : JSON.stringify(scenario), 'folder/mine.json');
}

test('fills in the defaults', () => {
  const defaults = { mu: 2, lambda: 1, payloadShare: 0.95, traceScale: { factor: 1 }, browser: MEASURED_BROWSER };
  expect(parse(MINIMAL)).toMatchObject({ ...MINIMAL, name: 'mine', ...defaults });
  const browser = { ...MEASURED_BROWSER, stallLevelSeconds: 0.5 };
  expect(parse({ ...MINIMAL, browser: { stallLevelSeconds: 0.5 } }).browser).toEqual(browser);
  const assumed = { playerBps: 2e6, browserBps: 0 };
  expect(parse({ ...MINIMAL, assumed: { playerBps: 2e6 } }).assumed).toEqual(assumed);
  expect(assumedLink(scenarioNamed('pensieve-60'))).toEqual({ playerBps: 1e6, browserBps: 2.5e6 });
});

test.each(Object.keys(SCENARIOS))('reads %s as it is written in results', (name) => {
  const resolved = resolveScenario(scenarioNamed(name));
  expect(parse(resolved)).toEqual(resolved);
  expect(parse(SCENARIOS[name])).toEqual(resolved);
});

const QUALITY = {
  ...{ schema: 'leo-abr-quality/1', metric: 'vmaf_v0.6.1', segmentSeconds: 2 },
  representations: {
    high: { bitrateBps: 2e6, bytes: [500, 400, 300], quality: [90, 91, 92] },
    low: { bitrateBps: 1e6, width: 640, height: 360, bytes: [200, 100], quality: [50.5, 60] },
  },
};
const WITH_MEDIA = { media: 'quality.json', bufferCapSeconds: 12, rttSeconds: 0.05 };

test('media has the ladder, sizes and qualities, which are those of the scenario in results, too', () => {
  const read = (name: string) => (name === 'quality.json' ? QUALITY : undefined);
  const media = { ladderBps: [1e6, 2e6], segmentSeconds: 2, segmentCount: 2 };
  const scenario = parseScenario(JSON.stringify(WITH_MEDIA), 'folder/mine.json', read);
  expect(scenario).toMatchObject({ ...media, name: 'mine', mu: 2 });
  expect(JSON.stringify(scenario.segmentSizesBits)).toBe('[[1600,4000],[800,3200]]');
  expect(JSON.stringify(scenario.qualities)).toBe('[[50.5,90],[60,91]]');
  expect(parse(scenario)).toEqual(scenario);
  const one = parseScenario(JSON.stringify({ ...WITH_MEDIA, segmentCount: 1 }), 'mine.json', read);
  expect(one.qualities).toEqual([[50.5, 90]]);
});

test.each([
  [{ ...WITH_MEDIA, ladderBps: [1e6] }, QUALITY, /mine.json: ladderBps: expected none beside media, got an array of 1/],
  [{ ...WITH_MEDIA, segmentCount: 3 }, QUALITY, /segmentCount: expected at most 2, the number of segments with sizes/],
  [WITH_MEDIA, [], /quality.json: expected an object, got an empty array/],
  [WITH_MEDIA, { ...QUALITY, schema: 2 }, /quality.json.schema: expected "leo-abr-quality\/1", got 2/],
  [WITH_MEDIA, { ...QUALITY, metric: 1 }, /quality.json.metric: expected text, got 1/],
  [WITH_MEDIA, { ...QUALITY, segmentSeconds: 0 }, /segmentSeconds: expected seconds > 0, got 0/],
  [WITH_MEDIA, { ...QUALITY, representations: {} }, /representations: expected representations by id/],
])('refuses %j with %j', (scenario, quality, message) => {
  expect(() => parseScenario(JSON.stringify(scenario), 'mine.json', () => quality)).toThrow(message);
});

test.each([
  [{ bitrateBps: '1' }, /representations.low.bitrateBps: expected bit\/s > 0, got "1"/],
  [{ width: -1 }, /low.width: expected a number > 0, got -1/],
  [{ codec: 1 }, /low.codec: expected text, got 1/],
  [{ bytes: [] }, /low.bytes: expected an array that is not empty/],
  [{ bytes: [200, 0] }, /low.bytes\[1\]: expected bytes > 0, got 0/],
  [{ quality: [50] }, /low.quality: expected an array of 2, got an array of 1/],
  [{ quality: [50, 101] }, /low.quality\[1\]: expected a number from 0 to 100, got 101/],
  [{ bitrateBps: 2e6 }, /representations: expected different bitrates, got 2000000 twice/],
])('refuses a representation with %j', (change, message) => {
  const { high, low } = QUALITY.representations;
  const changed = { ...QUALITY, representations: { high, low: { ...low, ...change } } };
  expect(() => parseScenario(JSON.stringify(WITH_MEDIA), 'mine.json', () => changed)).toThrow(message);
});

test.each([
  [{ ...MINIMAL, ladderBps: [2e6, 1e6] }, /mine.json: ladderBps: expected bitrates .* ascending, got an array of 2/],
  [{ ...MINIMAL, ladderBps: [] }, /ladderBps: expected bitrates/],
  [{ ...MINIMAL, ladderBps: [1e6, null] }, /ladderBps\[1\]: expected a whole number, got null/],
  [{ ...MINIMAL, ladderBps: [1e6, 2e6 + 0.5] }, /ladderBps\[1\]: expected a whole number, got 2000000.5/],
  [{ ...MINIMAL, segmentSeconds: 0 }, /segmentSeconds: expected a number above 0, got 0/],
  [{ ...MINIMAL, segmentCount: 2.5 }, /segmentCount: expected a whole number from 1 to 1000000, got 2.5/],
  [{ ...MINIMAL, segmentCount: 1e15 }, /segmentCount: expected a whole number from 1 to 1000000, got 1000000000000000/],
  [{ ...MINIMAL, ladderBps: [3, 8, 15] }, /ladderBps: expected bitrates in bit\/s, above 1000 and ascending/],
  [{ ...MINIMAL, bufferCapSeconds: 4.01 }, /bufferCapSeconds: expected more than segmentSeconds \+ browser/],
  [{ ...MINIMAL, bufferCap: 4 }, /bufferCap: expected one of the fields name, ladderBps/],
  [{ ...MINIMAL, browser: { lateness: 4 } }, /browser.lateness: expected one of the fields requestLatenessSeconds/],
  [{ ...MINIMAL, browser: { appendSeconds: '1' } }, /browser.appendSeconds: expected a number from 0, got "1"/],
  [{ ...MINIMAL, traceScale: { factor: 0 } }, /traceScale.factor: expected a number above 0, got 0/],
  [{ ...MINIMAL, payloadShare: 1.2 }, /payloadShare: expected a number above 0 to 1, got 1.2/],
  [
    { ...MINIMAL, lines: [1080] },
    /lines: expected 2 numbers above 0, one per bitrate of the ladder, got an array of 1/,
  ],
  [{ ...MINIMAL, segmentSizesBits: [[1, 2], [1]] }, /segmentSizesBits\[1\]: expected 2 numbers/],
  [{ ...MINIMAL, segmentSizesBits: [[1, 0]] }, /segmentSizesBits\[0\]\[1\]: expected a number above 0, got 0/],
  [{ ...MINIMAL, segmentSizesBits: [[1, 2]] }, /segmentCount: expected at most 1, the number of segments with sizes/],
  [WITH_MEDIA, /media: expected none, because no/],
  [{ ...MINIMAL, qualities: [[1, 101]] }, /qualities\[0\]\[1\]: expected a number from 0 to 100, got 101/],
  [{ ...MINIMAL, qualities: [[1, 2]] }, /segmentCount: expected at most 1, the number of segments with qualities/],
  [[], /folder\/mine.json: expected a JSON object, got an empty array/],
  ['{', /mine.json: expected a JSON object/],
])('refuses %j', (scenario, message) => {
  expect(() => parse(scenario)).toThrow(message);
});

test('the sizes of pictures are those of the ladder, also where HLS declares other mean bitrates', () => {
  const { ladderBps, ...scenario } = SCENARIOS['hd-16']!;
  const qualityOf = (factor: number) => {
    const ladder = ladderBps.map((bps, i) => ({ id: String(i), bitrateBps: bps * factor }));
    const weights = scenarioWeights(
      { ...scenario, ladderBps },
      { objective: 'perceived' },
    )({ ladder, live: undefined });
    return ladder.map(({ bitrateBps }) => weights.quality(bitrateBps));
  };
  const exact = qualityOf(1);
  for (const [i, quality] of qualityOf(1.013).entries()) expect(Math.abs(quality - exact[i]!)).toBeLessThan(1);
});

test('an unknown name lists the known ones', () => {
  expect(() => scenarioNamed('uhd-9')).toThrow(
    /--scenario: expected one of uhd-8, .*live-uhd-3, or a .json file, got "uhd-9"/,
  );
  expect(() => scenarioNamed('toString')).toThrow(/expected one of/);
});

const loaded = async (source: string) => (await importOwnAlgorithms([{ name: './mine.ts', source }])).get('./mine.ts')!;

const LOADS = 'a module that loads, got Error:';
const EXPORT = 'an export createController({ seed }), got exports:';

test('a module of the user creates a controller per session', async () => {
  const create = await loaded(
    'export const createController = ({ seed }) => ({ name: "mine", decide: () => ({ reason: String(seed) }) });',
  );
  const [one, other] = [create({ seed: 3 }), create({ seed: 4 })];
  expect(one.decide(undefined as never).reason).toBe('3');
  expect(other.decide(undefined as never).reason).toBe('4');
});

test.each([
  ['a module that throws', 'throw new Error("at once")', `${LOADS} at once at `],
  ['one that ends the process', 'process.exit(0)\n//# sourceURL=x?bundled', `${LOADS} process.exit(0) in an`],
  ['no export', '', `${EXPORT} nothing`],
  ['another export', 'export default {}', `${EXPORT} default`],
  ['no function', 'export const createController = {}', `${EXPORT} createController`],
])('refuses %s', async (_, source, message) => {
  await expect(loaded(source)).rejects.toThrow(`./mine.ts: expected ${message}`);
});

test.each([
  ['throws', '{ throw new TypeError("no") }', 'TypeError: no at '],
  ['returns nothing', '{}', 'undefined'],
  ['returns a controller without decide', '{ return { name: "x", decid() {} } }', '{ name, decid }'],
  ['returns one without a name', '{ return { decide() {} } }', '{ decide }'],
])('refuses a createController that %s', async (_, body, message) => {
  const create = await loaded(`export function createController() ${body}`);
  expect(() => create({ seed: 1 })).toThrow(
    `./mine.ts: expected createController to return { name, decide(state, forecast) }, got ${message}`,
  );
});

test('a name with a slash or an ending of scripts is a file', () => {
  const names = ['./mine', 'mine.ts', 'mine.js', 'a/mine.mjs', 'mpc-d', 'mpc-l:risk-0.5'];
  expect(names.map(isOwnAlgorithm)).toEqual([true, true, true, true, false, false]);
});

test.each([
  ['./@me/mine.ts@built-in', { controller: './@me/mine.ts', forecaster: 'built-in' }],
  ['./@me/mine.ts', { controller: './@me/mine.ts' }],
  ['./@me/mine.ts:lolp-catch-up', { controller: './@me/mine.ts', catchUp: 'lolp' }],
  ['./mine.ts@onnx:a.ts', { controller: './mine.ts', forecaster: 'onnx:a.ts' }],
  ['mpc-l@onnx', { controller: 'mpc-l', forecaster: 'onnx' }],
  ['mpc-l@onnx:./me@home:2/a.onnx@hls', { controller: 'mpc-l', forecaster: 'onnx:./me@home:2/a.onnx', player: 'hls' }],
  ['mpc-l:no-forecast', { controller: 'mpc-l:no-forecast' }],
  ['mpc-l:risk-1', { controller: 'mpc-l:risk-1', forecaster: 'built-in' }],
  ['mpc-l:no-handover', { controller: 'mpc-l:no-handover', forecaster: 'built-in:no-handover' }],
])('the parts of %s', (name, parts) => {
  expect(parseAlgorithm(name, '')).toMatchObject(parts);
});

test('an ONNX forecaster needs a file', () => {
  const message = /mpc-l@service, or @onnx:<file>, got "mpc-l@onnx:"/;
  expect(() => parseAlgorithm('mpc-l@onnx:', '--algorithms')).toThrow(message);
});

test('households of a file have defaults', () => {
  const text = '{"players": [{}, {"algorithm": "bola", "joinSeconds": 7}]}';
  const players = [{ joinSeconds: 0 }, { algorithm: 'bola', joinSeconds: 7 }];
  expect(parseHousehold(text, 'folder/ours.json')).toEqual({ name: 'ours', players, traffic: [] });
  const { traffic } = parseHousehold('{"players": [{}], "traffic": [{"fromSeconds": 5, "toSeconds": 9}]}', 'a.json');
  expect(traffic).toEqual([{ fromSeconds: 5, toSeconds: 9 }]);
});

test.each([
  ['{}', /players: expected a player that joins at second 0/],
  ['{"players": 2}', /players: expected a list/],
  ['{"players": [{"joinSeconds": 3}]}', /players: expected a player that joins at second 0/],
  ['{"players": [{"join": 3}]}', /players\[0\].join: expected one of the fields algorithm, joinSeconds/],
  ['{"players": [{"algorithm": 3}]}', /players\[0\].algorithm: expected the name of an algorithm/],
  ['{"players": [{}], "traffic": [{"fromSeconds": 5, "toSeconds": 5}]}', /traffic\[0\].toSeconds.*above 5/],
  ['{"players": [{}], "downloads": []}', /downloads: expected one of the fields name, players, traffic/],
])('%s is refused', (text, message) => {
  expect(() => parseHousehold(text, 'a.json')).toThrow(message);
});

test('unknown names are refused with the known ones', () => {
  const algorithms = householdNamed('mixed').players.map(({ algorithm }) => algorithm);
  expect(algorithms).toEqual([undefined, undefined, 'dynamic', 'dynamic']);
  expect(() => householdNamed('three')).toThrow(/--household: expected one of two, four, .*"three"/);
});

const LATENCIES = { latencySeconds: 2, targetLatencySeconds: 2 };
const RATES = { rates: { min: 0.9, max: 1.2 }, presentRate: 1 };
const SITUATION: CatchUpSituation = { ...LATENCIES, ...RATES, bufferLevelSeconds: 1 };
const rateOf = (catchUp: CatchUp, change: Partial<CatchUpSituation>) =>
  catchUpRate(catchUp, { ...SITUATION, ...change });

const LATE = 1 - 0.2 + 0.4 / (1 + Math.exp(-1));
const EARLY = 1 - 0.1 + 0.2 / (1 + Math.exp(1));

test.each<[string, CatchUp, Partial<CatchUpSituation>, number]>([
  ['keeps 1 at the target', 'default', {}, 1],
  ['has a steepness of 5 per second', 'default', { latencySeconds: 2.2 }, LATE],
  ['has other bounds below 1', 'default', { latencySeconds: 1.8 }, EARLY],
  ['is 1 with an empty buffer', 'default', { latencySeconds: 5, bufferLevelSeconds: 0.3, presentRate: 1.2 }, 1],
  ['reaches its bound with a little buffer', 'default', { latencySeconds: 5, bufferLevelSeconds: 0.31 }, 1.2],
  ['leaves out small changes', 'default', { latencySeconds: 2.01 }, 1],
  ['makes a small change to 1', 'default', { presentRate: 1.001 }, 1],
  ['is below 1 with little buffer, however late', 'lolp', { latencySeconds: 5, bufferLevelSeconds: 0.3 }, EARLY],
  ['catches up with more', 'lolp', { latencySeconds: 5, bufferLevelSeconds: 0.5 }, 1.2],
  ['is 1 within 2 % of the target', 'lolp', { latencySeconds: 2.039, presentRate: 1.2 }, 1],
])('the rate %s (%s, %j)', (_, catchUp, change, rate) => {
  expect(rateOf(catchUp, change)).toBeCloseTo(rate, rate === 1.2 ? 5 : 12);
});

test('the rate leaves 1 just beyond these limits', () => {
  expect(rateOf('default', { latencySeconds: 2.02 })).toBeGreaterThan(1);
  expect(rateOf('lolp', { latencySeconds: 2.041, presentRate: 1.2 })).toBeGreaterThan(1);
});

test('every law stays within the bounds of the rate', () => {
  const latencies = { latencySeconds: between(0, 60), targetLatencySeconds: between(0.6, 20) };
  const situation = fc.record({ ...latencies, bufferLevelSeconds: between(0, 20) });
  forAll([fc.constantFrom<CatchUp[]>('default', 'lolp'), situation], {}, (catchUp, change) => {
    const rate = rateOf(catchUp, change);
    expect(rate).toBeGreaterThanOrEqual(0.9);
    expect(rate).toBeLessThanOrEqual(1.2);
  });
});

const steps = { stepEndsSeconds: [10, 20], ratesBps: [1e6, 4e6] };
const link = { ...steps, rttSeconds: 0.1, startSeconds: 8, traceStartUtcMs: 0 };
const path = (oracle: ReturnType<typeof browserOracle>, now: number) =>
  (oracle.forecaster.latest(now) as PathForecast).path;

test('publishes the link from now on, with its RTT', () => {
  const oracle = browserOracle(link, 'path');
  expect(path(oracle, 0).downloadSeconds(0, 1e6)).toBeCloseTo(1.1, 9);
  expect(path(oracle, 2).downloadSeconds(0, 4e6)).toBeCloseTo(1.1, 9);
  expect(path(oracle, 12).cumulativeBits(10)).toBeCloseTo(1e7, 3);
});

test('MPC-L gets quantiles, because it plans on no path', () => {
  const { quantilesBps } = browserOracle(link, 'quantiles').forecaster.latest(2) as QuantileForecast;
  expect(quantilesBps[0]).toEqual([4e6]);
});

test('the oracle is anchored by the first media response only', () => {
  const oracle = browserOracle(link, 'path');
  oracle.anchor(9.5, 0.5);
  oracle.anchor(100, 1);
  expect(oracle.offsetSeconds).toBe(9);
  expect(path(oracle, 1).cumulativeBits(1)).toBeCloseTo(4e6, 3);
});
