/** Makes rows of training data: a session's features when a controller may decide, and the link's later capacity. */

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Forecaster, Observation, PiecewisePath } from '../../abr/index.ts';
import { seededRandom, seedOf } from '../../abr/statistics/random.ts';
import { MODEL_VERSION } from '../../predictor/forecast/model-file.ts';
import { FEATURES } from '../../predictor/link/features.ts';
import { LinkHistory } from '../../predictor/link/link-history.ts';
import { createController } from '../../replay/algorithms.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { mean } from '../../replay/evaluation/statistics/quantiles.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import { linkOf } from '../../replay/link/trace-link.ts';
import { oracleForecaster } from '../../replay/oracle/oracle-forecaster.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { simulateSession } from '../../replay/simulator/play.ts';
import { type Trace, wrapSeconds } from '../../replay/trace.ts';
import { type Watched, watched } from '../shared/progress.ts';

/** Ends of the forecast's steps. Early steps are short for the next decisions. An outage can end in the last step. */
const STEP_ENDS_SECONDS = [1, 2, 4, 6, 8, 12, 18, 28, 48] as const;

/** Least ratio of a rate to the reference, as in predictor/forecast/quantile-forecaster.ts, because 0 has no logarithm. */
const LEAST_RATIO = 0.003;
/** Least time between two rows. */
const ROW_SECONDS = 0.45;
/** Least length of the recording after a row. If a step ends after the recording, its capacity is unknown. */
const LEAST_FUTURE_SECONDS = 12;
/** Shorter recordings give no row. */
export const LEAST_RECORDING_SECONDS = 30;
/** Aimed number of sessions per data set, and limits of the time between their starts. */
const SESSIONS_PER_DATASET = 300;
const LEAST_SPACING_SECONDS = 7;
const GREATEST_SPACING_SECONDS = 97;
/** Greatest |ln| of the exponent that stretches a recording's rates. */
const GREATEST_STRETCH = 0.7;

/** Sessions take scenarios and controllers in turn, because a session's observations depend on its requests. */
const SESSION_SCENARIOS = ['uhd-8', 'small-6', 'uhd-16', 'uhd-8', 'pensieve-60'] as const;
const SESSION_CONTROLLERS = ['mpc-o', 'mpc-d:abandon', 'mpc-d', 'mpc-o'] as const;

type RowSession = ReturnType<typeof rowSessions>[number];

/** Names a recording's data set, and its transport if the data set has several: UDP and TCP see different links. */
function datasetLabels(traces: readonly Trace[]): Map<Trace, string> {
  const transportOf = ({ metadata }: Trace) => /^[a-z]+/i.exec(String(metadata.other?.['transport'] ?? ''))?.[0] ?? '';
  const byDataset = groupBy(traces, ({ metadata }) => metadata.dataset);
  const labels = new Map<Trace, string>();
  for (const [dataset, of] of byDataset) {
    const hasSeveral = new Set(of.map(transportOf)).size > 1;
    for (const trace of of) labels.set(trace, hasSeveral ? `${dataset} ${transportOf(trace)}`.trim() : dataset);
  }
  return labels;
}

/**
 * Plans two sessions at each start: on the recording and on the stretched recording, whose rates are
 * mean * (rate / mean) ** stretch. A stretch of 1 leaves them unchanged.
 */
function rowSessions(traces: readonly Trace[], labels: ReadonlyMap<Trace, string>, seed: number) {
  const secondsOf = new Map<string, number>();
  for (const [trace, label] of labels) secondsOf.set(label, (secondsOf.get(label) ?? 0) + trace.durationSeconds);
  const sessions = [];
  for (const [index, trace] of traces.entries()) {
    const aimed = secondsOf.get(labels.get(trace)!)! / SESSIONS_PER_DATASET;
    const spacing = Math.min(GREATEST_SPACING_SECONDS, Math.max(LEAST_SPACING_SECONDS, aimed));
    const random = seededRandom(seedOf(JSON.stringify([seed, trace.metadata.dataset, trace.name])));
    for (let k = 0; k * spacing + 2 * LEAST_FUTURE_SECONDS < wrapSeconds(trace); k++) {
      for (const stretch of [1, Math.exp(GREATEST_STRETCH * (2 * random() - 1))]) {
        const scenario = SESSION_SCENARIOS[(k + index) % SESSION_SCENARIOS.length]!;
        const { segmentSeconds, segmentCount } = SCENARIOS[scenario]!;
        // A random fraction of a second keeps starts apart from the steps of the recording.
        const startSeconds = k * spacing + random();
        const room = Math.floor((wrapSeconds(trace) - startSeconds - LEAST_FUTURE_SECONDS) / segmentSeconds);
        if (room < 3) continue;
        sessions.push({
          ...{ trace, dataset: labels.get(trace)!, startSeconds, scenario, stretch },
          segmentCount: Math.min(segmentCount, room),
          controller: SESSION_CONTROLLERS[(k + (stretch === 1 ? 0 : 1)) % SESSION_CONTROLLERS.length]!,
        });
      }
    }
  }
  return sessions;
}

/** Rows of one session: `[feature ..., ln ratio per step ...]`. The ratio is NaN for steps after the recording. */
function rowsOf(session: RowSession): Float32Array[] {
  const { startSeconds, segmentCount } = session;
  const scenario = SCENARIOS[session.scenario]!;
  const trace = session.stretch === 1 ? session.trace : stretched(session.trace, session.stretch);
  const link = linkOf(trace, scenario);
  const isOracle = session.controller === 'mpc-o';
  const forecaster = new RowRecorder({
    link: link.from(startSeconds),
    leftSeconds: wrapSeconds(trace) - startSeconds,
    plannedOn: isOracle ? oracleForecaster({ link, traceSecondsAt: (now) => startSeconds + now }) : undefined,
  });
  const controller = createController(session.controller);
  simulateSession({ trace, scenario, controller, startSeconds, segmentCount, forecaster });
  return forecaster.rows;
}

interface WriteRowsOptions extends Watched {
  traces: readonly Trace[];
  seed: number;
  /** Data sets, named as in sidecars, that are left out of training but not of evaluation. Default: none. */
  leftOut?: readonly string[];
  folder: string;
}

/** Writes `rows.f32` and `rows.json` for predictor/training into `folder`. */
export async function writeRows(options: WriteRowsOptions): Promise<void> {
  const { traces, seed, leftOut = [], folder } = options;
  const labels = datasetLabels(traces);
  const sessions = rowSessions(traces, labels, seed);
  // A group may have only recordings that are too short for a row.
  const groups = [...new Set(traces.map(({ metadata }) => metadata.recordingGroup))].sort();
  const datasets = [...new Set(sessions.map(({ dataset }) => dataset))].sort();
  const isLeftOut = ({ metadata }: Trace) => leftOut.includes(metadata.dataset);
  mkdirSync(folder, { recursive: true });
  const out = openSync(join(folder, 'rows.f32'), 'w');
  let count = 0;
  try {
    for await (const session of watched(sessions, options)) {
      const { recordingGroup } = session.trace.metadata;
      const head = [groups.indexOf(recordingGroup), datasets.indexOf(session.dataset), session.stretch === 1 ? 0 : 1];
      const rows = rowsOf(session);
      // The file is little-endian, like all machines that Node runs on.
      writeSync(out, new Uint8Array(Float32Array.from(rows.flatMap((row) => [...head, ...row])).buffer));
      count += rows.length;
    }
  } finally {
    closeSync(out);
  }
  const header = {
    ...{ format: 'leo-abr training rows', version: 1, rows: count, modelVersion: MODEL_VERSION, features: FEATURES },
    stepEndsSeconds: STEP_ENDS_SECONDS,
    groups,
    datasets,
    leftOut: [...new Set(traces.filter(isLeftOut).map((trace) => labels.get(trace)!))],
  };
  writeFileAtomically(join(folder, 'rows.json'), `${JSON.stringify(header, undefined, 2)}\n`);
}

/** `leftSeconds` is the length of the recording after the start. The controller plans on `plannedOn`. */
type RowOptions = { link: PiecewisePath; leftSeconds: number; plannedOn: Forecaster | undefined };

/** Adds a row at requests for a forecast and at observations, at most every `ROW_SECONDS`. */
class RowRecorder implements Forecaster {
  readonly name = 'rows';
  readonly rows: Float32Array[] = [];
  private readonly _history = new LinkHistory();
  private readonly _features = new Float64Array(FEATURES.length);
  private _lastSeconds = Number.NEGATIVE_INFINITY;

  constructor(private readonly _options: RowOptions) {}

  start(context: Parameters<Forecaster['start']>[0]): void {
    this._options.plannedOn?.start(context);
  }

  observe(observation: Observation): void {
    this._options.plannedOn?.observe(observation);
    if (this._history.observe(observation) && observation.kind === 'throughput') this._note(observation.endSeconds);
  }

  latest(nowSeconds: number): ReturnType<Forecaster['latest']> {
    this._note(nowSeconds);
    return this._options.plannedOn?.latest(nowSeconds);
  }

  private _note(nowSeconds: number): void {
    const { link, leftSeconds } = this._options;
    if (nowSeconds - this._lastSeconds < ROW_SECONDS || nowSeconds + LEAST_FUTURE_SECONDS > leftSeconds) return;
    if (!this._history.writeFeatures(nowSeconds, this._features)) return;
    const reference = this._history.referenceBps()!;
    this._lastSeconds = nowSeconds;
    const rates = stepRatesBps(link, nowSeconds, leftSeconds);
    const ratios = rates.map((rate) => Math.log(Math.max(LEAST_RATIO, rate / reference)));
    this.rows.push(Float32Array.of(...this._features, ...ratios));
  }
}

/** Mean capacity of each step of a forecast. It is NaN if the step ends after `leftSeconds` of the session's clock. */
function stepRatesBps(link: PiecewisePath, nowSeconds: number, leftSeconds: number): number[] {
  return STEP_ENDS_SECONDS.map((end, step) => {
    const begin = STEP_ENDS_SECONDS[step - 1] ?? 0;
    const bits = link.cumulativeBits(nowSeconds + end) - link.cumulativeBits(nowSeconds + begin);
    return nowSeconds + end > leftSeconds ? Number.NaN : bits / (end - begin);
  });
}

function stretched(trace: Trace, stretch: number): Trace {
  const average = mean(trace.ratesBps);
  return { ...trace, ratesBps: trace.ratesBps.map((rate) => average * (rate / average) ** stretch) };
}
