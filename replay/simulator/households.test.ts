/** Laws of players that share a link. */

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, draws, forAll, whole } from '../../abr/property.fixture.ts';
import { HOUSEHOLDS, type HouseholdPlayer, type OtherTraffic } from '../households.ts';
import type { ResolvedScenario, SessionResult } from '../results.ts';
import { resolveScenario } from '../scenario-file.ts';
import { MEASURED_BROWSER, SCENARIOS } from '../scenarios.ts';
import { roundedSession } from '../session-result.ts';
import { type SimulatedAlgorithm, simulatedAlgorithm } from './algorithms.ts';
import { follows, partsUpTo, traceOfParts } from './made-up.fixture.ts';
import { playHousehold, simulateSession } from './play.ts';

const SEED = { seed: 20260301, numRuns: draws(30), endOnFailure: true };
const ENDLESS: OtherTraffic = { fromSeconds: 0, toSeconds: 1e6 };

const scenarios = fc
  .record({
    name: fc.constantFrom('uhd-8', 'hd-16', 'live-hd-3'),
    rttSeconds: fc.constantFrom(0, 0.04, 0.3),
    initSegmentBits: fc.constantFrom(0, 6e3, 5e5),
  })
  .map(({ name, rttSeconds, initSegmentBits }): ResolvedScenario => {
    const scenario = SCENARIOS[name]!;
    const of = { rttSeconds, segmentCount: scenario.live ? 25 : 12, traceScale: { factor: 1 } };
    return resolveScenario({ ...scenario, ...of, browser: { ...MEASURED_BROWSER, initSegmentBits } });
  });
/** A plan of representations, and the seconds after which a download is abandoned for the lowest. */
type Behaviour = { plan: number[]; patience: number | undefined };
const patience = whole(1, 79).map((tenths) => tenths / 10 + 0.05);
const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  plan: fc.array(whole(0, 5), { minLength: 25, maxLength: 25 }),
  patience: fc.option(patience, { nil: undefined }),
});
const place = { parts: partsUpTo(300, { maxLength: 20 }), scenario: scenarios, startSeconds: between(0, 100) };

type HouseholdCase = { parts: { seconds: number; mbps: number }[]; scenario: ResolvedScenario; startSeconds: number };

/** The players' `algorithm` is the JSON of their behaviour. */
const algorithmOf = (name: string): SimulatedAlgorithm => {
  const { plan, patience }: Behaviour = JSON.parse(name);
  return (task) => ({ ...task, algorithm: 'plan', controller: follows(plan, patience), cutoffSeconds: 60 });
};
const taskOf = ({ parts, scenario, startSeconds }: HouseholdCase, factor = 1) => {
  const { ratesBps, ...trace } = traceOfParts(parts, 2);
  const scaled = { ...trace, ratesBps: ratesBps.map((bps) => bps * factor) };
  return { trace: scaled, scenario, startSeconds, seed: 1, timings: false, segmentCount: scenario.segmentCount };
};
const seat = (one: Behaviour, joinSeconds = 0): HouseholdPlayer => ({ algorithm: JSON.stringify(one), joinSeconds });
const play = (place: HouseholdCase, players: readonly HouseholdPlayer[], traffic: readonly OtherTraffic[] = []) =>
  playHousehold({ name: 'law', players, traffic }, taskOf(place), { algorithm: 'given', algorithmOf });
const withoutSeat = ({ household: _, ...session }: SessionResult) => session;

/** Rounds far above the effect of a millionth of a bit on the link. */
const coarse = (session: SessionResult) =>
  session.segments.map(({ bitrateBps, requestedAtSeconds, downloadSeconds, stallSeconds }) => [
    ...[bitrateBps, requestedAtSeconds.toFixed(4), downloadSeconds.toFixed(4)],
    Math.abs(stallSeconds).toFixed(4),
  ]);

test('a household of one equals the session alone, to the byte', () => {
  forAll([fc.record({ ...place, one: behaviour })], SEED, ({ one, ...where }) => {
    const alone = simulateSession(algorithmOf(JSON.stringify(one))(taskOf(where)));
    expect(JSON.stringify(withoutSeat(play(where, [seat(one)])[0]!))).toBe(JSON.stringify(alone));
  });
});

test('so does one of MPC-L, live', () => {
  const scenario = resolveScenario({ ...SCENARIOS['live-hd-3']!, segmentCount: 25 });
  const parts = Array.from({ length: 30 }, (_, i) => ({ seconds: 5, mbps: 40 + ((i * 37) % 100) }));
  const task = taskOf({ parts, scenario, startSeconds: 7 });
  const one = { name: 'one', players: [{ joinSeconds: 0 }], traffic: [] };
  const [together] = playHousehold(one, task, { algorithm: 'mpc-l', algorithmOf: simulatedAlgorithm });
  const alone = simulateSession(simulatedAlgorithm('mpc-l')(task));
  expect(JSON.stringify(roundedSession(withoutSeat(together!)))).toBe(JSON.stringify(roundedSession(alone)));
  expect(together!.segments.length).toBeGreaterThan(10);
});

test('beside downloads a player has its share of the link and no more', () => {
  const others = fc.constantFrom(1, 2, 3);
  forAll([fc.record({ ...place, one: behaviour, others })], SEED, ({ one, others, ...where }) => {
    const alone = simulateSession(algorithmOf(JSON.stringify(one))(taskOf(where, 1 / (1 + others))));
    const [beside] = play(where, [seat(one)], Array(others).fill(ENDLESS));
    expect(coarse(beside!)).toEqual(coarse(alone));
  });
});

// The second case has two downloads that end together, but for rounding.
test.each([SEED, { ...SEED, seed: 7, path: '47' }])('every bit of the link arrives once (%j)', (runs) => {
  forAll([fc.record({ ...place, players: fc.array(behaviour, { minLength: 1, maxLength: 4 }) })], runs, (of) => {
    const { players, ...where } = of;
    const seats = players.map((one, i) => seat(one, i * 1.7));
    for (const { household } of play(where, seats, [ENDLESS])) expect(household!.linkUtilisation).toBeCloseTo(1, 4);
    const [{ household }] = play(where, seats) as [SessionResult];
    expect(household!.linkUtilisation).toBeLessThanOrEqual(1 + 1e-9);
  });
});

test('what a player does not spend, a download gets', () => {
  const where = {
    parts: [{ seconds: 300, mbps: 20 }],
    scenario: resolveScenario({ ...SCENARIOS['hd-16']!, traceScale: { factor: 1 } }),
    startSeconds: 0,
  };
  const rates = [0, 5].map((step) => {
    const traffic = { fromSeconds: 40, toSeconds: 80 };
    const [{ household }] = play(where, [seat({ plan: Array(48).fill(step), patience: undefined })], [traffic]) as [
      SessionResult,
    ];
    return household!.trafficBps! / 20e6;
  });
  expect(rates[0]).toBeGreaterThan(0.9);
  expect(rates[1]).toBeCloseTo(0.5, 1);
});

test('players and downloads that come later change nothing before, and the order of players does not matter', () => {
  const joins = between(0.1, 20);
  forAll([fc.record({ ...place, one: behaviour, late: behaviour, join: joins })], SEED, (of) => {
    const { one, late, join, ...where } = of;
    const early = (sessions: SessionResult[]) =>
      sessions[0]!.segments.filter((row) => row.requestedAtSeconds + row.downloadSeconds < join);
    const alone = early(play(where, [seat(one)]));
    const both = play(where, [seat(one), seat(late, join)]);
    expect(early(both)).toEqual(alone);
    expect(early(play(where, [seat(one)], [{ ...ENDLESS, fromSeconds: join }]))).toEqual(alone);
    expect(
      play(where, [seat(late, join), seat(one)])
        .reverse()
        .map(coarse),
    ).toEqual(both.map(coarse));
  });
});

test.each(Object.keys(HOUSEHOLDS))('%s plays to the end, on demand and live', (name) => {
  const household = HOUSEHOLDS[name]!;
  for (const scenario of ['hd-16', 'live-hd-3'].map((named) => resolveScenario(SCENARIOS[named]!))) {
    const task = taskOf({ parts: [{ seconds: 300, mbps: 100 }], scenario, startSeconds: 0 });
    const played = playHousehold(household, task, { algorithm: 'throughput', algorithmOf: simulatedAlgorithm });
    expect(played.map(({ endedBy }) => endedBy)).toEqual(household.players.map(() => 'end'));
    expect(played.map((one) => one.household!.joinSeconds)).toEqual(household.players.map((one) => one.joinSeconds));
  }
});
