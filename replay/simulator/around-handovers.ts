/** What happens around handovers in live sessions, per algorithm: `node scripts/around-handovers.js`. */

import { EPOCH_SECONDS, type Observation } from '../../abr/forecast.ts';
import type { BuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { hintHandover } from '../../predictor/link/handover-clock/hint.ts';
import { placeKey, planBenchmark } from '../evaluation/plan/plan.ts';
import { differences, pairedMeans } from '../evaluation/statistics/paired-means.ts';
import { meansOf } from '../evaluation/statistics/quantiles.ts';
import { unitsByDataset } from '../evaluation/statistics/resampling-units.ts';
import { readTraces } from '../formats/trace-files.ts';
import { resolveScenario } from '../scenario-file.ts';
import { SCENARIOS } from '../scenarios.ts';
import { qualitiesOf } from '../segment-qualities.ts';
import { handoverPhaseOf, type Trace } from '../trace.ts';
import { type SessionTask, simulatedAlgorithm } from './algorithms.ts';
import { EventQueue } from './event-queue.ts';
import type { LivePlayback } from './player/live-playback.ts';
import { LivePlayer } from './player/live-player.ts';

/** A stall that begins this soon after a handover counts as the handover's. */
const AFTER_SECONDS = 2;
/** Segments that are requested this long before a handover count as before it. */
const BEFORE_SECONDS = 4;
/** A controller with the true second of handovers, within 0.1 s. */
const KNOWN = 'mpc-l:known-handover';
const NAMES = ['mpc-l:no-handover', 'mpc-l', KNOWN];

const modulo = (value: number) => ((value % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;

function phaseOf({ metadata: { handoverPhaseSeconds, epochPhaseSeconds } }: Trace): number {
  return handoverPhaseSeconds ?? handoverPhaseOf(epochPhaseSeconds!);
}

/** Tells the forecaster's clock the next handover at each observation. */
function withKnownPhase(forecaster: BuiltInForecaster, traceSecondsAt: (seconds: number) => number, phase: number) {
  const observe = forecaster.observe.bind(forecaster);
  forecaster.observe = (observation: Observation) => {
    observe(observation);
    const at = observation.kind === 'throughput' ? observation.endSeconds : observation.atSeconds;
    const clock = forecaster.handoverClock;
    if (clock) hintHandover(clock, at + modulo(phase - traceSecondsAt(at)), 0.1, 0.99);
  };
  return forecaster;
}

function play(task: SessionTask, algorithm: string) {
  const phase = phaseOf(task.trace);
  const options = simulatedAlgorithm(algorithm === KNOWN ? 'mpc-l' : algorithm)(task);
  const { forecaster } = options;
  if (algorithm === KNOWN) {
    options.forecaster = (seconds) => withKnownPhase(forecaster!(seconds) as BuiltInForecaster, seconds, phase);
  }
  const queue = new EventQueue();
  const player = new LivePlayer(options, task.scenario.live!, queue);
  player.start();
  while (!player.isOver) queue.runNext();
  const result = player.result();
  const { history, startupSeconds } = (player as unknown as { playback: LivePlayback }).playback;
  let [nowSeconds, stalls, stallSeconds, stallsAfter, secondsAfter, wasStalled] = [startupSeconds, 0, 0, 0, 0, false];
  for (const { seconds, isStalled } of history) {
    const isAfter = modulo(task.startSeconds + nowSeconds - phase) < AFTER_SECONDS;
    if (isStalled) {
      stallSeconds += seconds;
      if (isAfter) secondsAfter += seconds;
      if (!wasStalled) stalls++;
      if (!wasStalled && isAfter) stallsAfter++;
    }
    wasStalled = isStalled;
    nowSeconds += seconds;
  }
  const qualities = qualitiesOf(result.segments, task.scenario);
  const near = result.segments.map(
    ({ requestedAtSeconds }) => modulo(phase - task.startSeconds - requestedAtSeconds) < BEFORE_SECONDS,
  );
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const minutes = (nowSeconds - startupSeconds) / 60;
  const handovers = (60 / EPOCH_SECONDS) * minutes;
  const { dataset, trace, group, startSeconds, meanBitrateBps, live, handoversAtSeconds } = result;
  const figures = {
    'stalls / min': stalls / minutes,
    'stall s / min': stallSeconds / minutes,
    'stalls / 100 handovers': (100 * stallsAfter) / handovers,
    'stall s / 100 handovers': (100 * secondsAfter) / handovers,
    quality: mean(qualities),
    'quality before': mean(qualities.filter((_, i) => near[i])),
    'quality elsewhere': mean(qualities.filter((_, i) => !near[i])),
    'Mbit/s': meanBitrateBps / 1e6,
    'latency, s': live!.latencySecondsMean,
    'handovers told': handoversAtSeconds === undefined ? 0 : 1,
  };
  return { dataset, trace, group, startSeconds, algorithm, figures };
}

export type Played = ReturnType<typeof play>;

/** Prints a table per data set and over all: means, and differences from the first of `NAMES` with intervals. */
export function report(paths: string[], scenarioName: string): void {
  const scenario = resolveScenario(SCENARIOS[scenarioName]!);
  const traces = readTraces(paths);
  const { sessions } = planBenchmark({ traces, scenario, starts: { everySeconds: 61 }, algorithms: NAMES, seed: 1 });
  const played = sessions.map(({ trace, startSeconds, segmentCount, algorithm, seed }) =>
    play({ trace, startSeconds, segmentCount, seed, scenario, timings: false }, algorithm),
  );
  const ways = unitsByDataset(played);
  for (const dataset of ['all', ...ways.keys()]) {
    const mine = played.filter((one) => dataset === 'all' || one.dataset === dataset);
    const of = (algorithm: string) => mine.filter((one) => one.algorithm === algorithm);
    console.log(`\n${dataset}: ${of('mpc-l').length} sessions, ${scenarioName}`);
    const names = Object.keys(mine[0]!.figures) as (keyof Played['figures'])[];
    for (const name of names) {
      const texts = NAMES.map((algorithm, i) => {
        const mean = meansOf(
          of(algorithm).map(({ figures }) => figures),
          [name],
        )[name];
        if (i === 0) return mean.toFixed(3);
        const means = pairedMeans(of(algorithm), of(NAMES[0]!), {
          keyOf: placeKey,
          valuesOf: differences(({ figures }: Played) => ({ [name]: figures[name] })),
          ways,
          seed: 1,
        })!;
        const { value, ci95 } = means[name]!;
        return `${mean.toFixed(3)} (${value.toFixed(3)} [${ci95?.map((one) => one.toFixed(3)).join(', ')}])`;
      });
      console.log(`${name.padEnd(25)} ${texts.join('   ')}`);
    }
  }
}
