import { expect, test } from '@jest/globals';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { parseHousehold } from '../households.ts';
import type { Results, SessionResult, SummaryRow } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { resultsJson } from './documents/assemble-results.ts';
import { mergeResults } from './documents/merge.ts';
import { parseResults } from './documents/parse-results.ts';
import { orderSessions, parseShard, planBenchmark, resumePlan } from './plan/plan.ts';
import { leastSegments, neededOfTraces, parseStarts, SLACK_SECONDS, sessionStarts } from './plan/starts.ts';
import {
  testSummary as summaryOf,
  testLiveMetrics,
  testResults,
  testScenario,
  testSession,
  testTrace,
} from './test-sessions.fixture.ts';

const row = (rows: SummaryRow[], algorithm: string, dataset = 'set') =>
  rows.find((r) => r.algorithm === algorithm && r.dataset === dataset)!;

/** `recordings` recordings of ten sessions; `qoe(i)` of session i. */
const sessionsOf = (algorithm: string, recordings: number, qoe: (i: number) => number): SessionResult[] =>
  Array.from({ length: recordings * 10 }, (_, i) => {
    const recording = { trace: `t${i % recordings}`, group: `g${(i % recordings) >> 1}` };
    return testSession({ algorithm, ...recording, startSeconds: Math.floor(i / recordings) * 61, qoeLinear: qoe(i) });
  });

test('a row has tail, severe share, waste, quantiles and early ends', () => {
  const sessions = Array.from({ length: 41 }, (_, i) =>
    testSession({
      ...{ startSeconds: i, qoeLinear: i, stallSeconds: i / 2, wastedBits: i === 0 ? 12e6 * 41 : 0 },
      endedBy: i === 40 ? 'cutoff' : i > 37 ? 'fault' : 'end',
    }),
  );
  expect(row(summaryOf(sessions), 'mpc-d')).toMatchObject({
    sessions: 41,
    cutoffs: 1,
    faults: 2,
    qoeMean: 20,
    qoeMedian: 20,
    qoeP5: 2,
    qoeP95: 38,
    qoePerceivedMean: 10,
    stallSecondsMean: 10,
    stallSecondsWorst5pct: 19.5, // the worst three of 41: 20, 19.5, 19
    severeShare: 20 / 41, // more than 10 s: 10.5 to 20
    wastedShare: 0.5,
    deliveredBps: (2 * 12e6) / 4, // a segment of 12 Mbit and 4 s each, and as many discarded bits
    startupSecondsMean: 1,
    vsBaseline: null,
  });
});

test('a row of live sessions has means of their metrics, and differences of means with intervals', () => {
  const of = (algorithm: string, added: number) =>
    Array.from({ length: 20 }, (_, i) => {
      const live = testLiveMetrics({ qoe: i + added, latencySecondsMean: 1 + i / 100 - added, jumps: i % 2 });
      const place = { trace: `t${i}`, group: `g${i >> 1}` };
      const freezes = { freezeCount: 3 + 2 * added, stallCount: 9 };
      return testSession({ algorithm, ...place, ...freezes, meanBitrateBps: 3e6 + added, live });
    });
  const rows = summaryOf([...of('mpc-d', 0), ...of('mpc-l', 0.5)]);
  const near = (value: number) => expect.closeTo(value, 9);
  const means = { qoe: near(10), latencySecondsMean: near(0.595), jumpsPerMinute: near(0.25) };
  expect(row(rows, 'mpc-l').live).toMatchObject({ ...means, freezesPerMinute: near(2) });
  expect(row(rows, 'mpc-d').vsBaseline).toBeNull();
  const constant = (value: number) => ({ value: near(value), ci95: [near(value), near(value)] });
  expect(row(rows, 'mpc-l').vsBaseline!.live).toEqual({
    qoeDiff: constant(0.5),
    latencySecondsDiff: constant(-0.5),
    stallSecondsPerMinuteDiff: constant(0),
    freezesPerMinuteDiff: constant(2 - 1.5),
    bitrateBpsDiff: constant(0.5),
  });
});

test('several data sets get rows over all', () => {
  const rows = summaryOf([testSession(), testSession({ dataset: 'other', qoeLinear: 20 })]);
  expect(rows.map((r) => `${r.dataset} ${r.qoeMean}`)).toEqual(['set 10', 'other 20', 'all 15']);
});

const noise = (i: number) => 8 * Math.sin(12.9 * i);
const baseline = sessionsOf('mpc-d', 20, (i) => 50 + noise(i));
const own = sessionsOf('mpc-l', 20, (i) => 55 + noise(i));
const comparisonOf = (sessions: SessionResult[]) => row(summaryOf(sessions), 'mpc-l').vsBaseline!;

test('delivered bits are compared as a ratio of sums, with the bits that were discarded', () => {
  const wasting = own.map((one, i) => ({ ...one, wastedBits: i % 40 < 4 ? 12e6 : 0 }));
  const { deliveredRatio } = comparisonOf([...baseline, ...wasting]);
  expect(deliveredRatio!.value).toBeCloseTo(1.1, 9);
  const [low, high] = deliveredRatio!.ci95!;
  expect(low).toBeLessThan(1.1);
  expect(high).toBeGreaterThan(1.1);
});

test('a constant difference has an interval of width 0, because sessions are paired', () => {
  const { qoeDiff, ...more } = comparisonOf([...baseline, ...own]);
  const five = expect.closeTo(5, 9);
  expect(qoeDiff).toEqual({ value: five, ci95: [five, five] });
  expect(more).toMatchObject({ baseline: 'mpc-d', pairs: 200, resampledBy: 'groups', units: 10 });
  expect(more.oracleGapClosed).toBeNull();
  expect(more.qoeMeanRatio!.value).toBeCloseTo(1.1, 3);
  expect(more.worst5pctDiff).toEqual({ value: 0, ci95: [0, 0] });
});

test('sessions are paired by place, over common places only', () => {
  const { pairs, qoeDiff } = comparisonOf([...baseline, ...own.slice(30).reverse()]);
  expect(pairs).toBe(170);
  expect(qoeDiff.value).toBeCloseTo(5, 9);
});

test('slow links, few of the groups, are resampled as all links are', () => {
  const played = [...sessionsOf('mpc-d', 16, noise), ...sessionsOf('mpc-l', 16, noise)];
  const slow = played.map((one) => (one.group === played[0]!.group ? { ...one, slowLinkBps: 1e6 } : one));
  const found = testResults(slow).byLink!.flatMap(({ dataset, links, vsBaseline }) =>
    dataset === 'set' && vsBaseline ? `${links} ${vsBaseline.resampledBy} ${vsBaseline.units}` : [],
  );
  expect(found).toEqual(['slow groups 1', 'other groups 7']);
});

test('the parts of a split trace are one recording, so there is no interval', () => {
  const sessions = ['mpc-d', 'mpc-l'].flatMap((algorithm) =>
    ['t#1', 't#2'].map((trace) => {
      const own = algorithm === 'mpc-l' && { qoeLinear: 60, stallSeconds: 12 };
      return testSession({ algorithm, trace, qoeLinear: 50, stallSeconds: 10, ...own });
    }),
  );
  const alone = (value: number) => ({ value, ci95: null });
  expect(comparisonOf(sessions)).toMatchObject({
    ...{ units: 1, qoeDiff: alone(10), qoeMeanRatio: alone(1.2), worst5pctDiff: alone(2), severeShareDiff: alone(1) },
  });
});

test('no ratio unless the baseline is clearly positive', () => {
  const ratioOver = (level: number, spread: number) => {
    const qoe = (i: number) => level + spread * Math.sin(i % 20);
    const better = sessionsOf('mpc-l', 20, (i) => qoe(i) + 5);
    return comparisonOf([...sessionsOf('mpc-d', 20, qoe), ...better]).qoeMeanRatio;
  };
  expect(ratioOver(-10, 1)).toBeNull();
  expect(ratioOver(5, 1)).toBeNull(); // under 5 % of 120
  expect(ratioOver(10, 100)).toBeNull(); // its interval reaches 0
  expect(ratioOver(10, 1)).not.toBeNull();
});

test('the closed gap is a share of the gain of the oracle, null above 1 and for a gain below 2 points', () => {
  const gapClosed = (lead: number, share = 0.5) => {
    const better = sessionsOf('mpc-l', 20, (i) => 50 + noise(i) + lead * share);
    const oracle = sessionsOf('mpc-o', 20, (i) => 50 + noise(i) + lead);
    return comparisonOf([...baseline, ...better, ...oracle]).oracleGapClosed;
  };
  expect(gapClosed(10)!.value).toBeCloseTo(0.5, 9);
  expect(gapClosed(10, 1)!.value).toBe(1);
  expect(gapClosed(10, 1.01)).toBeNull();
  // Perceived QoE is half of QoE-linear here.
  expect(gapClosed(4.1)).not.toBeNull();
  expect(gapClosed(3.9)).toBeNull();
});

test('without the baseline there are no comparisons', () => {
  expect(summaryOf(sessionsOf('mpc-l', 4, noise)).every((r) => r.vsBaseline === null)).toBe(true);
});

const algorithms = ['mpc-o', 'mpc-d', 'bola'];
const sessions = Array.from({ length: 12 }, (_, place) =>
  algorithms.map((algorithm, a) =>
    testSession({
      ...{ algorithm, dataset: place < 6 ? 'one' : 'two', trace: `t${place >> 1}`, startSeconds: (place & 1) * 61 },
      ...{ seed: place, qoeLinear: 20 + Math.sin(place + a) * 9, stallSeconds: a * Math.abs(Math.cos(place)) },
    }),
  ),
).flat();
const shard = (index: number, count: number, all: SessionResult[] = sessions): Results => {
  const own = all.filter((_, i) => Math.floor(i / algorithms.length) % count === index - 1);
  return testResults(own, { shard: `${index}/${count}` });
};
const named = (...all: Results[]) => all.map((results, i) => ({ file: `${i + 1}.json`, results }));

test('merges algorithms that were run separately, with their comparison', () => {
  const of = (algorithm: string) => testResults(sessions.filter((session) => session.algorithm === algorithm));
  const merged = mergeResults(named(of('mpc-o'), of('mpc-d'), of('bola')));
  expect(resultsJson(merged)).toBe(resultsJson(testResults(sessions)));
});

test('identical duplicates of a session count once, different ones are refused', () => {
  const results = testResults(sessions);
  expect(resultsJson(mergeResults(named(results, shard(2, 3))))).toBe(resultsJson(results));
  const changed = shard(1, 12, [{ ...sessions[0]!, stallSeconds: 3 }, ...sessions.slice(1)]);
  expect(() => mergeResults(named(results, changed))).toThrow(
    /^2.json: sessions\[0\]: expected the result of 1.json for .*, got another one: stallSeconds 3$/,
  );
});

test('a merge refuses another scenario, seed, command or baseline', () => {
  const first = shard(1, 2);
  const second = shard(2, 2);
  const refused = (results: Results, message: string | RegExp) =>
    expect(() => mergeResults(named(first, results))).toThrow(message);
  const other = { ...second, scenario: { ...second.scenario, rttSeconds: 0.1 } };
  refused(other, '2.json: scenario: expected that of 1.json ("uhd-8"), got rttSeconds 0.1');
  for (const tool of [{ seed: 2 }, { command: 'bench' }, { baseline: 'bola' }]) {
    refused({ ...second, tool: { ...second.tool, ...tool } }, /^2.json: tool\./);
  }
  const session = { ...sessions[0]!, algorithm: 'throughput', seed: 99 };
  refused(testResults([session]), '2.json: sessions[0].seed: expected 0, as for mpc-o in 1.json, got 99');
  const unscaled = testResults([{ ...session, seed: 0 }], { unscaledDatasets: ['one'] });
  refused(unscaled, '2.json: sessions[0]: expected a link scaled as in 1.json (--scale), got another scale');
});

test('a merge joins the starts left out, the unscaled data sets and the notes of bench', () => {
  const of = (dataset: string, rejections: object[]) =>
    testResults(
      sessions.filter((session) => session.dataset === dataset),
      {
        unscaledDatasets: [dataset],
        leftOut: [{ dataset, trace: 'short', startSeconds: 0, reason: 'no room' }],
        bench: { tier: 'origin', rejectedRuns: rejections.length, parts: [{ startedAt: dataset, rejections }] },
      },
    );
  const [one, two] = [of('one', []), of('two', [{ algorithm: 'bola' }, { algorithm: 'mpc-o' }])];
  // The first file is read twice.
  expect(mergeResults(named(one, two, one)).tool).toMatchObject({
    unscaledDatasets: ['one', 'two'],
    leftOut: [{ dataset: 'one' }, { dataset: 'two' }],
    bench: { rejectedRuns: 2, parts: [{ startedAt: 'one' }, { startedAt: 'two' }] },
  });
});

test('a merge lists other differences of tool', () => {
  const second = shard(2, 2);
  const merged = mergeResults(named(shard(1, 2), { ...second, tool: { ...second.tool, commit: 'abc' } }));
  expect(merged.tool).toMatchObject({ differing: { commit: [null, 'abc'] } });
  expect(merged.tool.shard).toBeUndefined();
});

const json = resultsJson(testResults(sessions.slice(0, 3)));

test('parses written results, and names the line of broken JSON', () => {
  expect(resultsJson(parseResults(json, 'r.json'))).toBe(json);
  expect(() => parseResults('', 'r.json')).toThrow('r.json:1: expected results JSON, got an empty file');
  expect(() => parseResults('x,y\n1,2', 'r.json')).toThrow('r.json:1: expected results JSON, got invalid JSON');
  expect(() => parseResults(json.slice(0, -200), 'r.json')).toThrow(/^r.json:\d+: expected results JSON, got in/);
});

test.each([
  ['"schema":1', '"schema":3', /r.json: schema: expected 1 or 2.*got 3/],
  ['"seed":1', '"seed":"1"', /r.json: tool.seed: expected a number, got "1"/],
  ['"endedBy":"end"', '"endedBy":"over"', /sessions\[0\].endedBy: expected 'end', 'cutoff' or 'fault', got "over"/],
  ['"stallSeconds":0', '"stallSeconds":-1', /segments\[0\].stallSeconds: expected a number >= 0, got -1/],
  ['"bitrateBps":3000000', '"bitrateBps":4', /sessions\[0\].segments\[0\].bitrateBps: expected one of the ladder/],
  ['"perceived":', '"perceived":null,"p":', /sessions\[0\].qoe.perceived: expected a number, got null/],
  ['"hd":null', '"hd":"x"', /sessions\[0\].qoe.hd: expected a number, got "x"/],
  ['"ladderBps":[3000000,', '"ladderBps":[9000000,', /scenario.ladderBps\[1\]: expected a number above 9000000/],
  ['"trace":"t0",', '', /sessions\[0\].trace: expected a string, got undefined/],
  ['"traceScale":{', '"traceScale":null,"x":{', /scenario.traceScale: expected an object, got null/],
  ['"tool":{', '"tool":{"unscaledDatasets":5,', /tool.unscaledDatasets: expected a list, got 5/],
  ['"tool":{', '"tool":{"household":{"name":"two"},', /tool.household.players: expected a list, got undefined/],
  ['"tool":{', '"tool":{"bench":{"tier":"origin"},', /tool.bench.rejectedRuns: expected a whole number >= 0/],
])('%s -> %s is refused by field', (from, to, message) => {
  expect(json).toContain(from);
  expect(() => parseResults(json.replace(from, to), 'r.json')).toThrow(message);
});

test('live sessions need all their metrics, others have none', () => {
  const live = resultsJson(testResults([testSession({ live: testLiveMetrics() })]));
  const refused = (text: string, message: RegExp) => expect(() => parseResults(text, 'r.json')).toThrow(message);
  expect(resultsJson(parseResults(live, 'r.json'))).toBe(live);
  refused(live.replace('"watchedSeconds":120,', ''), /sessions\[0\].live.watchedSeconds: expected a number > 0/);
  refused(live.replace(/,"live":\{"qoe"[^}]*\}/, ''), /sessions\[0\].live: expected the metrics of a live scenario/);
  const metrics = JSON.stringify(testLiveMetrics());
  refused(json.replace('"wastedBits":0', `"wastedBits":0,"live":${metrics}`), /live: expected none .* on demand/);
});

const scenario = testScenario();
const options = {
  traces: [testTrace('b', 400), testTrace('a', 300), testTrace('c', 60, 'another')],
  scenario,
  starts: parseStarts('every:61'),
  algorithms: ['mpc-o', 'mpc-d'],
  seed: 1,
};
const text = (plan: ReturnType<typeof planBenchmark>) =>
  plan.sessions.map((s) => `${s.trace.metadata.dataset}/${s.trace.name}@${s.startSeconds} ${s.algorithm}`);

test('a plan sorts by data set, trace and start, with algorithms in the given order', () => {
  const plan = planBenchmark(options);
  const places = ['another/c@0', 'set/a@0', 'set/a@61', 'set/b@0', 'set/b@61', 'set/b@122'];
  expect(text(plan)).toEqual(places.flatMap((at) => [`${at} mpc-o`, `${at} mpc-d`]));
  expect(planBenchmark({ ...options, traces: [...options.traces].reverse() })).toEqual(plan);
});

test('a plan gives all algorithms of a start the same seed, different from other starts and benchmarks', () => {
  const { sessions } = planBenchmark(options);
  const seeds = new Set(sessions.map((session) => session.seed));
  expect(seeds.size).toBe(sessions.length / 2);
  expect(planBenchmark({ ...options, seed: 2 }).sessions[0]!.seed).not.toBe(sessions[0]!.seed);
});

test('a plan reports traces and starts without room', () => {
  const traces = [testTrace('a', 240), testTrace('b', 300), testTrace('c', 47)];
  const { leftOut } = planBenchmark({ ...options, starts: parseStarts('at:0,61'), traces });
  const why = 'no room for a session in';
  expect(leftOut.map(({ trace, startSeconds, reason }) => `${trace}@${startSeconds}: ${reason}`)).toEqual([
    ...[`a@61: ${why} 240 s`, `c@0: ${why} 47 s`, `c@61: ${why} 47 s`],
  ]);
});

test.each(['uhd-8', 'live-hd-1'])('%s: no player of a household has under 40 s, unless it joins so late', (name) => {
  const traces = [testTrace('a', 60), testTrace('b', 90), testTrace('c', 300)];
  const playedWith = (joinSeconds: number) => {
    const household = parseHousehold(`{"players": [{}, {"joinSeconds": ${joinSeconds}}]}`, 'late.json');
    const { sessions, leftOut } = planBenchmark({ ...options, scenario: testScenario(name), household, traces });
    return [[...new Set(sessions.map(({ trace }) => trace.name))], leftOut.map(({ trace }) => trace)];
  };
  // The joiner has 24 s, 52 s and more of media, live 30 s, 60 s and more.
  expect(playedWith(30)).toEqual([['b', 'c'], ['a']]);
  expect(playedWith(160)).toEqual([['c'], ['a', 'b']]);
});

test('a plan refuses traces of the same name, the data set all beside others, repeated algorithms and a benchmark without sessions', () => {
  expect(() => planBenchmark({ ...options, traces: [testTrace('a', 300), testTrace('a', 300)] })).toThrow(
    'name: expected a unique name per trace of data set "set", got "a" again',
  );
  const all = [testTrace('a', 300), testTrace('b', 300, 'all')];
  expect(() => planBenchmark({ ...options, traces: all })).toThrow(/^dataset: expected another name than "all"/);
  expect(planBenchmark({ ...options, traces: all.slice(1) }).sessions).toHaveLength(4);
  expect(() => planBenchmark({ ...options, algorithms: ['mpc-d', 'mpc-d'] })).toThrow(/each once/);
  expect(() => planBenchmark({ ...options, traces: [testTrace('a', 8)] })).toThrow(
    'traces: expected a trace of 48 s or more (232 s after the start for a whole session of uhd-8), ' +
      'got 1 too short: "a" of 8 s',
  );
});

const planned = planBenchmark(options).sessions;
const played = planned.map(({ trace, startSeconds, algorithm, seed }) =>
  testSession({ dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm, seed }),
);

test('a resumed plan refuses results of another scenario, seed or command', () => {
  const resume = (results: ReturnType<typeof testResults>) => () =>
    resumePlan(planned, { file: 'r.json', results }, scenario);
  const results = testResults(played);
  expect(resume({ ...results, scenario: { ...scenario, bufferCapSeconds: 9 } })).toThrow(/^r.json: scenario: /);
  expect(resume(testResults([{ ...played[0]!, seed: 1 }]))).toThrow(/^r.json: sessions\[0\].seed: expected \d+/);
  expect(resume(testResults([{ ...played[0]!, algorithm: 'bola' }]))).toThrow(/only sessions of this command/);
});

test('orderSessions sorts algorithms into the given order', () => {
  const sessions = ['bola', 'mpc-d', 'mpc-o'].map((algorithm) => testSession({ algorithm }));
  expect(orderSessions(sessions, ['mpc-o', 'mpc-d']).map((s) => s.algorithm)).toEqual(['mpc-o', 'mpc-d', 'bola']);
});

test.each(['', '1', '0/4', '5/4', '1/4/2', 'a/b', '-1/4', '1.5/4', '1/10001'])('parseShard refuses %j', (shard) => {
  expect(() => parseShard(shard)).toThrow(/^--shard: expected i\/n/);
});

const uhd = SCENARIOS['uhd-8']!;
const small = SCENARIOS['small-6']!;
const live = SCENARIOS['live-hd-1']!;

const full = (...starts: number[]) => starts.map((startSeconds) => ({ startSeconds, segmentCount: 48 }));
const from0 = (segmentCount: number) => [{ startSeconds: 0, segmentCount }];

test.each<[string, number, string, object[], Scenario?]>([
  ['a start that fits exactly', 232 + 61, 'every:61', full(0, 61)],
  ['the start before', 232 + 60.9, 'every:61', full(0)],
  ['in spite of rounding', 2320 * 0.1, 'every:61', full(0)],
  ['the given starts that fit', 300, 'at:30,69', full(30)],
  ['of a short trace floor(duration / segment) - 2 segments from 0', 60, 'every:61', from0(13)],
  ['of a trace without slack all segments', 217, 'every:61', from0(48)],
  // 74 s wrap at 60 s, and 16 segments of 4 s would exceed this.
  ['of a short trace no more than until it wraps', 74, 'every:61', from0(15)],
  ['none of a short trace but from 0', 60, 'at:30', []],
  // A piece of 14 s would play one segment, whose startup decides its QoE alone.
  ['none of less than 40 s of media', 47.9, 'every:61', []],
  ['40 s of media', 48, 'every:61', from0(10)],
  ['less if the scenario is shorter', 14, 'every:61', from0(1), { ...uhd, segmentCount: 1 }],
  ['none that does not fit, however short', 14, 'every:61', [], { ...uhd, segmentCount: 2 }],
  ['none of a trace that wraps at 30 s', 44.9, 'every:61', [], small],
  ['40 s of a trace that wraps at 45 s', 45, 'every:61', from0(20), small],
  ['as much media as fits', 96 + SLACK_SECONDS, 'at:0', from0(32)],
  ['live sessions without slack', 255, 'every:61', [...from0(100), { startSeconds: 61, segmentCount: 100 }], live],
  // 241 s wrap at 240 s, one second before the second session would end.
  ['no live session past the wrap', 241, 'every:61', from0(100), live],
  // 60 s, and 10 segments before the join.
  ['a short live trace to its end', 60, 'every:61', from0(40), live],
  ['none of 39 s after the join', 39, 'every:61', [], live],
  ['45 s after the join', 46, 'every:61', from0(32), live],
])('plays %s (%d s, %s)', (_, durationSeconds, rule, starts, scenario = uhd) => {
  expect(sessionStarts({ durationSeconds }, scenario, parseStarts(rule))).toEqual(starts);
});

test('the shortest trace wraps no earlier than its session ends', () => {
  expect(neededOfTraces(small)).toMatch(/^a trace of 45 s or more/);
});

test('starts that no memory holds are refused', () => {
  const trace = { durationSeconds: 300 };
  expect(() => sessionStarts(trace, small, parseStarts('every:0.000000001'))).toThrow(
    /--starts: expected at most 1000000/,
  );
});

test('law: every session fits, and the next start would not', () => {
  const anyDuration = between(1, 4000);
  const anyPeriod = whole(1, 200);
  forAll([anyDuration, anyPeriod], { seed: 1 }, (durationSeconds, everySeconds) => {
    const starts = sessionStarts({ durationSeconds }, uhd, { everySeconds });
    for (const { startSeconds, segmentCount } of starts) {
      expect(startSeconds + segmentCount * uhd.segmentSeconds).toBeLessThanOrEqual(durationSeconds);
      expect(segmentCount).toBeGreaterThanOrEqual(leastSegments(uhd));
    }
    const media = uhd.segmentCount * uhd.segmentSeconds;
    if (durationSeconds >= media + SLACK_SECONDS) {
      expect(starts.length * everySeconds + media + SLACK_SECONDS).toBeGreaterThan(durationSeconds);
    } else expect(starts.length).toBeLessThanOrEqual(1);
  });
});

test('parses both kinds of starts', () => {
  expect(parseStarts('every:61')).toEqual({ everySeconds: 61 });
  expect(parseStarts('at:30,0,7.5')).toEqual({ atSeconds: [0, 7.5, 30] });
});

test.each(['', 'every', 'every:', 'every:0', 'every:-1', 'every:1e9', 'at:', 'at:1,', 'at:1,1', 'at:-1', 'each:5'])(
  'refuses %j, naming the flag',
  (text) => {
    expect(() => parseStarts(text)).toThrow(/^--starts: expected .*, got /);
  },
);
