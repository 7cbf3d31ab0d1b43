import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../abr/errors.ts';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { mean } from '../evaluation/statistics/quantiles.ts';
import { formatSidecar } from '../formats/sidecar.ts';
import { formatTraceCsv } from '../formats/trace-csv.ts';
import { traceOfRates } from '../simulator/made-up.fixture.ts';
import { traceStartUtcMs } from '../trace.ts';
import { SHIPPED_TRACES } from './shipped-traces.ts';
import { synthesizeStarlinkLink } from './starlink-link.ts';
import { STARLINK_CHARACTERS, STARLINK_MIXTURES, type StarlinkCharacter } from './starlink-parameters.ts';
import { PRESETS, synthesizeTrace } from './synthesize-trace.ts';
import { boundaryEffect, logRates, outageRuns, secondsOf } from './trace-info.ts';

const anySeed = whole(0, 0xffffffff);
const CHARACTERS = Object.keys(STARLINK_CHARACTERS) as StarlinkCharacter[];
const anyCharacter = fc.constantFrom(...CHARACTERS);

test.each(PRESETS)('%s: a seed always gives the same, valid trace', (preset) => {
  forAll([anySeed], { seed: 1, numRuns: 10 }, (seed) => {
    const options = { preset, seed, durationSeconds: 120 };
    const trace = synthesizeTrace(options);
    expect(synthesizeTrace(options)).toEqual(trace);
    expect(trace.stepEndsSeconds).toEqual(Float64Array.from({ length: 120 }, (_, i) => i + 1));
    expect(trace.ratesBps.every((rate) => rate >= 0 && Number.isInteger(rate / 10_000))).toBe(true);
    expect(trace.loss!.every((loss) => loss >= 0 && loss <= 1)).toBe(true);
    expect(trace.rttSeconds!.every((rtt) => Number.isNaN(rtt) || (rtt > 0.005 && rtt < 1))).toBe(true);
    const other = { synthetic: true, preset, seed };
    expect(trace.metadata).toMatchObject({ recordingGroup: `${preset}-${seed}`, licence: 'Apache-2.0', other });
    // The start's second of the minute equals the phase.
    const second = (traceStartUtcMs(trace.metadata) % 60_000) / 1000;
    expect(second).toBeCloseTo(trace.metadata.epochPhaseSeconds!, 9);
  });
});

test.each(['stationary', 'driving'] as const)('%s draws each of its characters', (preset) => {
  const drawn = new Set<unknown>();
  for (let seed = 0; seed < 40; seed++) {
    drawn.add(synthesizeTrace({ preset, seed, durationSeconds: 60 }).metadata.other!['character']);
  }
  expect([...drawn].sort()).toEqual([...STARLINK_MIXTURES[preset]].sort());
});

test('a seed is the same Starlink link at every step', () => {
  const steps = fc.constantFrom(0.1, 0.2, 0.5);
  forAll([anySeed, steps, anyCharacter], { seed: 2, numRuns: 30 }, (seed, stepSeconds, character) => {
    const options = { parameters: STARLINK_CHARACTERS[character], seed, durationSeconds: 60 };
    const coarse = synthesizeStarlinkLink(options);
    const fine = synthesizeStarlinkLink({ ...options, stepSeconds });
    const perSecond = Math.round(1 / stepSeconds);
    coarse.ratesBps.forEach((rate, second) => {
      const inside = fine.ratesBps.subarray(second * perSecond, (second + 1) * perSecond);
      // Each side is rounded to 10 kbit/s.
      expect(Math.abs(mean(inside) - rate)).toBeLessThanOrEqual(10_000);
    });
  });
});

test('the rate of a Starlink link changes at seconds 12, 27, 42 and 57 of the minute, with a dip', () => {
  // All other variation is off, so only boundaries change the rate.
  const spreads = ['slowSpread', 'fastSpread', 'surroundingsSpread', 'fadesPerHour', 'blockagesPerHour'];
  const off = Object.fromEntries(['keepShare', 'badEpochShare', ...spreads].map((name) => [name, 0]));
  const parameters = { ...STARLINK_CHARACTERS['stationary-calm'], ...off, dipSeconds: 1, dipDepth: 0.5 };
  for (const seed of [1, 2, 3, 4, 5]) {
    const link = synthesizeStarlinkLink({ parameters, seed, durationSeconds: 90, stepSeconds: 0.1 });
    const changed = new Set<number>();
    for (let i = 1; i < link.ratesBps.length; i++) {
      if (link.ratesBps[i] === link.ratesBps[i - 1]) continue;
      changed.add(Math.floor(link.epochPhaseSeconds + i / 10) % 60);
    }
    // Each dip lasts 1 s, to the next whole second.
    expect([...changed].sort((a, b) => a - b)).toEqual([12, 13, 27, 28, 42, 43, 57, 58]);
  }
});

test('constant is constant, a square wave has two rates, cable varies by 5 %', () => {
  const rates = (preset: 'constant' | 'square' | 'cable') =>
    Array.from(synthesizeTrace({ preset, seed: 1, durationSeconds: 2000, mbps: 10 }).ratesBps);
  expect(new Set(rates('constant'))).toEqual(new Set([10e6]));
  expect(new Set(rates('square'))).toEqual(new Set([16e6, 4e6]));
  const cable = rates('cable');
  const center = mean(cable);
  expect(center / 1e6).toBeCloseTo(10, 1);
  expect(Math.sqrt(mean(cable.map((rate) => (rate - center) ** 2))) / center).toBeCloseTo(0.05, 2);
});

test('an LTE-like link varies, but not by the epoch', () => {
  const trace = synthesizeTrace({ preset: 'lte', seed: 1, durationSeconds: 3600 });
  const mbps = secondsOf(trace);
  expect(boundaryEffect(mbps, trace.metadata.epochPhaseSeconds!).changeRatio).toBeLessThan(1.25);
  const log = logRates(mbps);
  const center = mean(log);
  const product = (lag: number) =>
    log.subarray(lag).reduce((sum, value, i) => sum + (value - center) * (log[i]! - center), 0);
  expect((product(15) * log.length) / (log.length - 15) / product(0)).toBeGreaterThan(0.1);
});

test.each([
  [{ preset: 'mars' as never, seed: 1 }, 'preset'],
  [{ preset: 'cable', seed: -1 }, 'seed'],
  [{ preset: 'cable', seed: 1.5 }, 'seed'],
  [{ preset: 'cable', seed: 1, durationSeconds: 0 }, 'duration'],
  [{ preset: 'cable', seed: 1, durationSeconds: Number.NaN }, 'duration'],
  [{ preset: 'cable', seed: 1, durationSeconds: 10.5 }, 'duration'],
  [{ preset: 'cable', seed: 1, durationSeconds: 1e9 }, 'duration'],
  [{ preset: 'cable', seed: 1, stepSeconds: 0.05 }, 'step'],
  [{ preset: 'cable', seed: 1, stepSeconds: 0 }, 'step'],
  [{ preset: 'cable', seed: 1, mbps: 0 }, 'mbps'],
  [{ preset: 'stationary', seed: 1, mbps: 5 }, 'mbps'],
] as const)('rejects %j', (options, field) => {
  const synthesize = () => synthesizeTrace(options);
  expect(synthesize).toThrow(InputError);
  expect(synthesize).toThrow(expect.objectContaining({ field }));
});

const FOLDER = fileURLToPath(new URL('../traces/', import.meta.url));
const fileText = (name: string) => readFileSync(`${FOLDER}${name}`, 'utf8');

test.each(SHIPPED_TRACES)('$name equals its file byte for byte', (recipe) => {
  const trace = synthesizeTrace(recipe);
  expect(formatTraceCsv(trace)).toBe(fileText(`${recipe.name}.csv`));
  expect(formatSidecar(trace.metadata)).toBe(fileText(`${recipe.name}.json`));
});

test('the shipped traces are the only files of the folder', () => {
  const names = SHIPPED_TRACES.map(({ name }) => name);
  const expected = ['README.md', ...names.map((name) => `${name}.csv`), ...names.map((name) => `${name}.json`)];
  expect(readdirSync(FOLDER).sort()).toEqual(expected.sort());
});

test('outages are runs below 1 Mbit/s, also at the ends', () => {
  expect(outageRuns(Float64Array.of(0, 0.9, 5, 0.5, 5, 1, 0, 0, 0), 1)).toEqual([2, 1, 3]);
});

test('logarithms have a floor of 0.5 Mbit/s', () => {
  expect(Array.from(logRates(Float64Array.of(0, 0.5, 1)))).toEqual([Math.log(0.5), Math.log(0.5), 0]);
});

/** 100 Mbit/s with a jump of ln 2 up and down at every epoch, and noise of 1 % elsewhere. */
const jumps = (phase: number, boundary: number) =>
  Float64Array.from({ length: 600 }, (_, i) => {
    const epoch = Math.floor((phase + i - boundary) / 15);
    const atBoundary = (((phase + i - boundary) % 15) + 15) % 15 === 0;
    return (epoch % 2 === 0 ? 100 : 200) * (i % 2 === 0 ? 1 : 1.01) * (atBoundary ? 0.7 : 1);
  });

test.each(['7 12', '51 12', '3 4', '8 14'])('boundaryEffect with phase and boundary %s finds the change', (text) => {
  const [phase, boundary] = text.split(' ').map(Number) as [number, number];
  const { second, changeRatio } = boundaryEffect(jumps(phase, boundary), phase);
  expect(second).toBe(boundary);
  expect(changeRatio).toBeGreaterThan(20);
});

test('seconds are means of the steps, without an incomplete last one', () => {
  const seconds = (ratesMbps: number[], stepSeconds: number) => [...secondsOf(traceOfRates(ratesMbps, stepSeconds))];
  expect(seconds([2, 4, 6, 8, 10], 0.5)).toEqual([3, 7].map((mbps) => expect.closeTo(mbps, 9)));
  expect(seconds([2, 4], 0.25)).toEqual([expect.closeTo(3, 9)]);
});
