/** Compares two algorithms from many starts of a link and finds a typical start for the demo. Browser-safe. */

import { synthesizeShippedTraces } from '../link-model/shipped-traces.ts';
import type { SessionResult } from '../results.ts';
import { resolveScenario } from '../scenario-file.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { qualitiesOf } from '../segment-qualities.ts';
import type { Trace } from '../trace.ts';
import { simulatedAlgorithm } from './algorithms.ts';
import { playHousehold, simulateSession } from './play.ts';

/** For the script behind `npm run moments`. */
export { SCENARIOS, synthesizeShippedTraces };

const SECONDS = 60;
const EVERY_SECONDS = 15;
const OWN = 'mpc-l';
/** Between the starts of players on one link, as in the demo. */
const BETWEEN_JOINS_SECONDS = 0.02;

export interface PlayedStart {
  stallCount: number;
  stallSeconds: number;
  /** Mean quality of the segments, 0 to 100, and perceived QoE. */
  quality: number;
  perceived: number;
  /** Received data per hour of video, abandoned downloads included. */
  gigabytesPerHour: number;
}

export interface StartPair {
  startSeconds: number;
  rival: PlayedStart;
  own: PlayedStart;
  /** If all are on one link: the rival's figures if four rivals are on it. */
  rivalsAlone?: PlayedStart;
}

/** How much better MPC-L does, by name: in seconds of stalls, in perceived QoE, or in GB per hour. */
export const MEASURES = {
  stalls: ({ rival, own }: StartPair) => rival.stallSeconds - own.stallSeconds,
  perceived: ({ rival, own }: StartPair) => own.perceived - rival.perceived,
  data: ({ rival, own }: StartPair) => rival.gigabytesPerHour - own.gigabytesPerHour,
};
export type Measure = keyof typeof MEASURES;

/**
 * Plays the first minute with a rival and with MPC-L, from each 15th second of a link. `isShared`: two players with each
 * are on one link, and their figures are means.
 */
export function playStarts(trace: Trace, scenario: Scenario, rival: string, isShared = false): StartPair[] {
  const { live, segmentSeconds } = scenario;
  const segmentCount = Math.ceil((SECONDS + (live?.timeShiftSeconds ?? 0)) / segmentSeconds);
  const resolved = resolveScenario(scenario);
  // An encoder that stops ends a live session; on demand the list of sizes stays.
  const played = live ? { ...resolved, segmentCount } : resolved;
  const task = { trace, scenario: played, segmentCount, seed: 1, timings: false };
  const play = (algorithm: string, startSeconds: number) =>
    figuresOf(simulateSession(simulatedAlgorithm(algorithm)({ ...task, startSeconds })));
  const playFour = (algorithms: readonly string[], startSeconds: number) => {
    const players = algorithms.map((algorithm, i) => ({ algorithm, joinSeconds: i * BETWEEN_JOINS_SECONDS }));
    const how = { algorithm: OWN, algorithmOf: simulatedAlgorithm };
    return playHousehold({ name: 'four', players, traffic: [] }, { ...task, startSeconds }, how).map(figuresOf);
  };
  const figuresOf = ({ segments, stallCount, stallSeconds, qoe }: SessionResult): PlayedStart => {
    const qualities = qualitiesOf(segments, resolved);
    const quality = qualities.reduce((sum, one) => sum + one, 0) / qualities.length;
    const bits = segments.reduce((sum, { sizeBits, abandonedBits }) => sum + sizeBits + abandonedBits, 0);
    const gigabytesPerHour = (3600 * bits) / (segments.length * segmentSeconds) / 8e9;
    return { stallCount, stallSeconds, quality, perceived: qoe.perceived!, gigabytesPerHour };
  };
  const count = Math.floor((trace.durationSeconds - SECONDS) / EVERY_SECONDS) + 1;
  return Array.from({ length: count }, (_, i) => i * EVERY_SECONDS).map((startSeconds) => {
    if (!isShared) return { startSeconds, rival: play(rival, startSeconds), own: play(OWN, startSeconds) };
    const mixed = playFour([rival, OWN, rival, OWN], startSeconds);
    const [rivals, owns] = [0, 1].map((kind) => meanOf(mixed.filter((_, i) => i % 2 === kind)));
    const rivalsAlone = meanOf(playFour(Array(4).fill(rival), startSeconds));
    return { startSeconds, rival: rivals!, own: owns!, rivalsAlone };
  });
}

export function meanOf(all: readonly PlayedStart[]): PlayedStart {
  const keys = Object.keys(all[0]!) as (keyof PlayedStart)[];
  const mean = (key: keyof PlayedStart) => all.reduce((sum, one) => sum + one[key], 0) / all.length;
  return Object.fromEntries(keys.map((key) => [key, mean(key)])) as unknown as PlayedStart;
}

/** Sorts by MPC-L's lead, the smallest first. */
export function inOrder(pairs: readonly StartPair[], measure: Measure): StartPair[] {
  return [...pairs].sort((a, b) => MEASURES[measure](a) - MEASURES[measure](b));
}

/** The start with MPC-L's median lead; of two, the lower lead. */
export function typicalStart(pairs: readonly StartPair[], measure: Measure): StartPair {
  return inOrder(pairs, measure)[Math.floor((pairs.length - 1) / 2)]!;
}
