/**
 * `node scripts/evaluate-service-ping.js [--model without-them.json] <traces...>`: what the dish's ping is worth, on recordings
 * that have it beside the throughput. Prints Markdown, in brackets 95 % intervals over recordings, paired.
 *
 * 1. What the service makes of ping today: latency forecasts, steps that it takes for handovers, triggers.
 * 2. Sessions of MPC-L (uhd-8, every 61 s) without the service; with it and no dish; with the dish; and with ping as a
 *    further input of the forecast. That is a linear correction of the forecast's logarithm, step by step, from the level,
 *    the trend and the unrest of the last pings. It is fitted for each recording on all the others (ridge regression), on
 *    what the third kind of sessions saw.
 *
 * `--model`: of `leo-abr train`, one that has not learnt from these recordings. Default: the shipped one.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';
import { SimulatedService } from './simulated-service.js';

const SCENARIO = 'uhd-8';
const STARTS_SECONDS = 61;
const SPARE_SECONDS = 40;
/** Second of the minute of one handover, by the schedule; the recordings' clocks are off by a second or so. */
const SCHEDULE_SECONDS = 12;
const EPOCH_SECONDS = 15;
const NEAR_SECONDS = 1.5;
/** Pings looked back on by the features, in seconds. */
const USUAL = 120;
const LEAST_PINGS = 20;
const FEATURE_NAMES = [
  'newest to usual',
  'last 5 to usual',
  'last 3 to the 3 before',
  'unrest of 15',
  'lowest of 15 to usual',
];
/** Weight of the ridge, in rows: they follow each other within seconds. */
const RIDGE_ROWS = 200;
const KEPT_ROWS_SECONDS = 2;

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { model: { type: 'string' } } });
if (positionals.length === 0) {
  console.error('usage: node scripts/evaluate-service-ping.js [--model without-them.json] <traces...>');
  process.exit(2);
}
const sources = await bundledSources('scripts/evaluate-service-ping.entry.js');
const model = flags.model === undefined ? undefined : JSON.parse(readFileSync(flags.model, 'utf8'));
const scenario = sources.SCENARIOS[SCENARIO];
const mediaSeconds = scenario.segmentSeconds * scenario.segmentCount;
const traces = sources.readTraces(positionals).filter(({ rttSeconds }) => rttSeconds !== undefined);
const sessions = traces.flatMap((trace, unit) => {
  const starts = [];
  for (let start = 0; start + mediaSeconds + SPARE_SECONDS <= trace.durationSeconds; start += STARTS_SECONDS) {
    starts.push(start);
  }
  return starts.map((startSeconds) => ({ trace, startSeconds, unit }));
});
const units = { unitOf: sessions.map(({ unit }) => unit), unitCount: traces.length, seed: 1 };

/** Of a step of the trace in ms; undefined where it was not measured. */
function pingMs(trace, step) {
  const seconds = trace.rttSeconds[step];
  return seconds > 0 ? seconds * 1000 : undefined;
}

function today() {
  const found = { steps: 0, near: 0, seconds: 0, triggers: 0 };
  const latency = { error: 0, lastError: 0, count: 0, inside: 0, judged: 0 };
  for (const trace of traces) {
    const detector = new sources.ChangeDetector();
    const forecaster = new sources.LatencyForecaster();
    const engine = new sources.TriggerEngine(sources.BUILT_IN_TRIGGERS.filter(({ metric }) => metric === 'latencyMs'));
    const utcMs = sources.traceStartUtcMs(trace.metadata);
    let forecast;
    let last;
    for (let second = 0; second < trace.durationSeconds - 1; second++) {
      const latencyMs = pingMs(trace, second);
      if (latencyMs === undefined) continue;
      if (forecast !== undefined) {
        const { levels, quantilesMs } = forecast;
        const row = quantilesMs[0];
        latency.error += Math.abs(row[levels.indexOf(0.5)] - latencyMs);
        latency.lastError += Math.abs(last - latencyMs);
        latency.count++;
        latency.inside += latencyMs >= row[levels.indexOf(0.1)] && latencyMs <= row[levels.indexOf(0.9)] ? 1 : 0;
      }
      const atMs = utcMs + second * 1000;
      for (const { atMs: stepMs } of detector.observe({ atMs, latencyMs })) {
        found.steps++;
        const off = (((stepMs / 1000 - SCHEDULE_SECONDS) % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;
        if (Math.min(off, EPOCH_SECONDS - off) <= NEAR_SECONDS) found.near++;
      }
      found.triggers += engine.observe({ latencyMs }, { atSeconds: second, atMs }).length;
      found.seconds++;
      forecaster.observe(second, latencyMs);
      forecast = forecaster.latest(second);
      last = latencyMs;
    }
  }
  const percent = (part, all) => `${((part / all) * 100).toFixed(0)} %`;
  console.log(`${traces.length} recordings, ${(found.seconds / 3600).toFixed(1)} h of pings.\n`);
  console.log(
    `Latency a second ahead: off by ${(latency.error / latency.count).toFixed(2)} ms in the mean, the last ping by ` +
      `${(latency.lastError / latency.count).toFixed(2)} ms; ${percent(latency.inside, latency.count)} within the 10 to 90 % quantiles.`,
  );
  console.log(
    `Latency steps taken for handovers: ${found.steps} in ${Math.round(found.seconds / EPOCH_SECONDS)} epochs, ` +
      `${percent(found.near, found.steps)} within ${NEAR_SECONDS} s of the schedule (by chance ${percent(2 * NEAR_SECONDS, EPOCH_SECONDS)}).`,
  );
  console.log(`Latency triggers: ${found.triggers}.\n`);
}

/** Pings up to a second of the trace, as features; undefined where there are too few. */
function pingFeatures(trace, traceSeconds) {
  // The ping of a second is known when it is over.
  const newest = Math.floor(traceSeconds + 1e-6) - 1;
  const logs = [];
  for (let second = Math.max(0, newest - USUAL + 1); second <= newest; second++) {
    const ms = pingMs(trace, Math.min(second, trace.rttSeconds.length - 1));
    if (ms !== undefined) logs.push(Math.log(ms));
  }
  if (logs.length < LEAST_PINGS) return undefined;
  const usual = [...logs].sort((a, b) => a - b)[logs.length >> 1];
  const last15 = logs.slice(-15);
  const mean15 = mean(last15);
  return [
    logs.at(-1) - usual,
    mean(logs.slice(-5)) - usual,
    mean(logs.slice(-3)) - mean(logs.slice(-6, -3)),
    Math.sqrt(mean(last15.map((value) => (value - mean15) ** 2))),
    Math.min(...last15) - usual,
  ];
}

/** The built-in forecaster, told of where in the trace it is, and corrected by ping where there is a correction. */
class PingForecaster {
  name = 'ping';
  #inner = sources.createBuiltInForecaster(model && { model });
  #session;
  #correction;
  rows = [];
  #newest = { of: undefined, forecast: undefined };

  constructor(session, correction) {
    this.#session = session;
    this.#correction = correction;
  }

  get handoverClock() {
    return this.#inner.handoverClock;
  }

  start(context) {
    this.#inner.start(context);
  }

  observe(observation) {
    this.#inner.observe(observation);
  }

  tellTime(...time) {
    this.#inner.tellTime(...time);
  }

  latest(nowSeconds) {
    const of = this.#inner.latest(nowSeconds);
    if (of === undefined) return undefined;
    if (of === this.#newest.of) return this.#newest.forecast;
    const { trace, startSeconds } = this.#session;
    const features = pingFeatures(trace, startSeconds + nowSeconds);
    if (features !== undefined && nowSeconds - (this.rows.at(-1)?.atSeconds ?? -9) >= KEPT_ROWS_SECONDS) {
      this.rows.push({ atSeconds: nowSeconds, features, forecast: of });
    }
    const shifts = features && this.#correction?.(features);
    const forecast =
      shifts === undefined
        ? of
        : {
            ...of,
            quantilesBps: of.quantilesBps.map((row, step) => row.map((bps) => bps * Math.exp(shifts[step]))),
          };
    this.#newest = { of, forecast };
    return forecast;
  }
}

function play(session, kind, correction) {
  const { trace, startSeconds } = session;
  const builtIn = sources.createBuiltInForecaster(model && { model });
  const utcMs = sources.traceStartUtcMs(trace.metadata) + startSeconds * 1000;
  const forecasters = [builtIn];
  let inService;
  if (kind !== 'without') {
    const telemetry = (atSeconds) => {
      if (kind === 'no dish') return undefined;
      const latencyMs = pingMs(trace, Math.floor(startSeconds + atSeconds + 1e-6) - 1);
      return { dropRate: 0, ...(latencyMs !== undefined && { latencyMs }) };
    };
    forecasters.unshift(
      new SimulatedService(sources, {
        utcMs,
        telemetry,
        forecasters() {
          inService = new PingForecaster(session, correction);
          return [inService];
        },
      }),
    );
  }
  const forecaster = new sources.ForecastChain(forecasters);
  const controller = sources.createController('mpc-l');
  const result = sources.simulateSession({ trace, scenario, controller, startSeconds, forecaster });
  return { qoe: result.qoe.linear, stall: result.stallSeconds, rows: inService?.rows ?? [] };
}

/** Per row: features, and what ln of the capacity turned out more than the forecast's median, per step. */
function examples(results) {
  return results.map(({ rows }, i) => {
    const { trace, startSeconds, unit } = sessions[i];
    const path = sources.pageLinkOf(trace, scenario).from(startSeconds);
    return rows.map(({ features, forecast }) => {
      const { stepEndsSeconds, levels, quantilesBps, issuedAtMs } = forecast;
      let start = issuedAtMs / 1000;
      const logs = stepEndsSeconds.map((end) => {
        const until = issuedAtMs / 1000 + end;
        const bps = (path.cumulativeBits(until) - path.cumulativeBits(start)) / (until - start);
        start = until;
        return Math.log(Math.max(1e4, bps));
      });
      const quantiles = quantilesBps.map((row) => row.map((bps) => Math.log(Math.max(1e4, bps))));
      return { unit, features, logs, quantiles, levels, errors: logs.map((log, k) => log - quantiles[k][3]) };
    });
  });
}

/** Ridge regression of the errors on the features, less their means: shifts per step for features. */
function fitted(rows) {
  const count = FEATURE_NAMES.length;
  const means = FEATURE_NAMES.map((_, j) => mean(rows.map(({ features }) => features[j])));
  const spreads = FEATURE_NAMES.map((_, j) =>
    Math.sqrt(mean(rows.map(({ features }) => (features[j] - means[j]) ** 2))),
  );
  const scaled = (features) => features.map((value, j) => Math.min(3, Math.max(-3, (value - means[j]) / spreads[j])));
  const inputs = rows.map(({ features }) => scaled(features));
  const steps = rows[0].errors.length;
  const weights = Array.from({ length: steps }, (_, k) => {
    const matrix = Array.from({ length: count }, (_, a) =>
      Array.from({ length: count }, (_, b) => inputs.reduce((sum, x) => sum + x[a] * x[b], a === b ? RIDGE_ROWS : 0)),
    );
    const error = mean(rows.map(({ errors }) => errors[k]));
    const right = Array.from({ length: count }, (_, a) =>
      inputs.reduce((sum, x, i) => sum + x[a] * (rows[i].errors[k] - error), 0),
    );
    return solved(matrix, right);
  });
  const correction = (features) => {
    const x = scaled(features);
    return weights.map((ofStep) => ofStep.reduce((sum, weight, j) => sum + weight * x[j], 0));
  };
  return Object.assign(correction, { weights });
}

/** Gauss's elimination; the matrix is positive definite. */
function solved(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  rows.forEach((pivot, i) => {
    for (let k = i + 1; k < rows.length; k++) {
      const factor = rows[k][i] / pivot[i];
      for (let j = i; j < pivot.length; j++) rows[k][j] -= factor * pivot[j];
    }
  });
  const solution = new Array(rows.length).fill(0);
  for (let i = rows.length - 1; i >= 0; i--) {
    const known = solution.reduce((sum, value, j) => (j > i ? sum + value * rows[i][j] : sum), 0);
    solution[i] = (rows[i][rows.length] - known) / rows[i][i];
  }
  return solution;
}

/** Mean pinball loss of ln rate over levels, per step. */
function losses({ logs, quantiles, levels }, shifts) {
  return logs.map((log, k) =>
    mean(
      levels.map((level, i) => {
        const error = log - quantiles[k][i] - (shifts?.[k] ?? 0);
        return error >= 0 ? level * error : (level - 1) * error;
      }),
    ),
  );
}

function worth() {
  const all = (kind, correctionOf = () => undefined) =>
    sessions.map((session) => play(session, kind, correctionOf(session.unit)));
  const without = all('without');
  const noDish = all('no dish');
  const dish = all('dish');
  const rows = examples(dish);
  const corrections = traces.map((_, unit) => fitted(rows.flat().filter((row) => row.unit !== unit)));
  const ping = all('dish', (unit) => corrections[unit]);

  const { stepEndsSeconds } = dish.find(({ rows }) => rows.length > 0).rows[0].forecast;
  console.log(
    `${rows.flat().length} forecasts. Loss of those with ping less that of those without it, in % of the latter:\n`,
  );
  console.log(`| step ends after s | ${stepEndsSeconds.join(' | ')} |`);
  console.log(`| --- |${' --- |'.repeat(stepEndsSeconds.length)}`);
  const cells = stepEndsSeconds.map((_, k) => {
    const plain = rows.map((ofSession) => mean(ofSession.map((row) => losses(row)[k])));
    const corrected = rows.map((ofSession) =>
      mean(ofSession.map((row) => losses(row, corrections[row.unit](row.features))[k])),
    );
    const base = mean(plain);
    const { difference } = sources.meansWithInterval(
      { difference: corrected.map((value, i) => ((value - plain[i]) / base) * 100) },
      units,
    );
    return shown(difference, 1);
  });
  console.log(`| change | ${cells.join(' | ')} |\n`);

  console.log(`${sessions.length} sessions, ${SCENARIO}.\n`);
  console.log('| sessions | QoE | stall s |\n| --- | --- | --- |');
  for (const [name, results] of Object.entries({
    'without the service': without,
    'with it, no dish': noDish,
    'with it and the dish': dish,
    'the same, ping in the forecast': ping,
  })) {
    console.log(
      `| ${name} | ${mean(results.map((r) => r.qoe)).toFixed(2)} | ${mean(results.map((r) => r.stall)).toFixed(2)} |`,
    );
  }
  const pairs = [
    ['the service without a dish, to none', noDish, without],
    ['the dish, to no dish', dish, noDish],
    ['ping in the forecast, to the dish without it', ping, dish],
    ['all of it, to no service', ping, without],
  ];
  console.log('\n| difference | QoE | stall s |\n| --- | --- | --- |');
  for (const [name, own, others] of pairs) {
    const { qoe, stall } = sources.meansWithInterval(
      { qoe: own.map((r, i) => r.qoe - others[i].qoe), stall: own.map((r, i) => r.stall - others[i].stall) },
      units,
    );
    console.log(`| ${name} | ${shown(qoe, 2)} | ${shown(stall, 2)} |`);
  }
}

function shown({ value, ci95 }, digits) {
  const signed = (number) => `${number >= 0 ? '+' : ''}${number.toFixed(digits)}`;
  return ci95 === null ? signed(value) : `${signed(value)} (${signed(ci95[0])}, ${signed(ci95[1])})`;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

today();
worth();
