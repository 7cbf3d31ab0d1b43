/**
 * `node scripts/evaluate-service.js [--links n] [--only i,j] [traces...]`: simulated sessions of MPC-L that take forecasts
 * from the prediction service, against sessions without it; a service that dies in the middle and comes back, and services
 * that lie. Default: the synthetic traces that come along, scenario uhd-8, sessions every 61 s; `--links` draws n more links
 * of each of their presets. Prints a table in Markdown, in brackets 95 % intervals over traces, paired.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';
import { SimulatedService } from './simulated-service.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const SCENARIO = 'uhd-8';
const STARTS_SECONDS = 61;
/** Seconds of a trace beyond the media that a session may need. */
const SPARE_SECONDS = 40;
const LINK_SECONDS = 300;
/** Seeds of further links begin here; those of the shipped ones are lower. */
const FIRST_SEED = 1000;
const DIES = { fromSeconds: 60, untilSeconds: 90 };

const times = (factor) => (forecast) => ({
  ...forecast,
  quantilesBps: forecast.quantilesBps.map((row) => row.map((bps) => bps * factor)),
});
const VARIANTS = [
  { name: 'without the service' },
  { name: 'with it', service: {} },
  {
    name: `it dies at ${DIES.fromSeconds} s and is back, its memory lost, at ${DIES.untilSeconds} s`,
    service: { dies: DIES },
  },
  { name: 'it says five times as much', service: { lie: times(5) } },
  { name: 'it says a fifth', service: { lie: times(0.2) } },
  { name: 'it says twice as much', service: { lie: times(2) } },
];
const ALIVE = 1;
const DYING = 2;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { links: { type: 'string', default: '0' }, only: { type: 'string' } },
});
const chosen = flags.only === undefined ? VARIANTS.map((_, i) => i) : flags.only.split(',').map(Number);
const sources = await bundledSources('scripts/evaluate-service.entry.js');
const traces = [
  ...sources.readTraces(positionals.length > 0 ? positionals : [join(root, 'replay/traces')]),
  ...furtherLinks(Number(flags.links)),
];
const scenario = sources.SCENARIOS[SCENARIO];
const mediaSeconds = scenario.segmentSeconds * scenario.segmentCount;
const sessions = traces.flatMap((trace, unit) => {
  const starts = [];
  const last = trace.durationSeconds - mediaSeconds - SPARE_SECONDS;
  for (let start = 0; start <= last; start += STARTS_SECONDS) starts.push(start);
  return starts.map((startSeconds) => ({ trace, startSeconds, unit }));
});

function furtherLinks(count) {
  const presets = [...new Set(sources.SHIPPED_TRACES.map(({ preset }) => preset))];
  return presets.flatMap((preset) =>
    Array.from({ length: count }, (_, i) =>
      sources.synthesizeTrace({ preset, seed: FIRST_SEED + i, durationSeconds: LINK_SECONDS }),
    ),
  );
}

function report() {
  const results = new Map(
    [0, ...chosen.filter((i) => i !== 0)].map((i) => [
      i,
      sessions.map((session) => play(session, VARIANTS[i].service)),
    ]),
  );
  console.log(
    `${sessions.length} sessions of ${traces.length} traces, ${SCENARIO}. QoE: linear, Mbit/s of undisturbed 4 s segments.\n`,
  );
  console.log(
    '| sessions | QoE | than without | of that | stall s | than without | worst 5 % s | forecasts of the service used | their age s |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const [i, own] of results) {
    const { qoe, stall, qoeDifference, stallDifference } = compared(own, results.get(0));
    const stalls = own.map(({ stallSeconds }) => stallSeconds).sort((a, b) => b - a);
    const worst = stalls.slice(0, Math.ceil(stalls.length * 0.05));
    const share = (qoeDifference.value / (qoe.value - qoeDifference.value)) * 100;
    const cells = [
      VARIANTS[i].name,
      qoe.value.toFixed(2),
      ...(i === 0 ? ['', ''] : [shown(qoeDifference), `${share.toFixed(1)} %`]),
      stall.value.toFixed(2),
      i === 0 ? '' : shown(stallDifference),
      mean(worst).toFixed(1),
      ...(i === 0 ? ['', ''] : [`${(mean(own.map((r) => r.usedShare)) * 100).toFixed(0)} %`, meanAge(own)]),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  if (!results.has(ALIVE) || !results.has(DYING)) return;
  const { qoeDifference, stallDifference } = compared(results.get(DYING), results.get(ALIVE));
  console.log(
    `\nThe death alone, against the service alive: QoE ${shown(qoeDifference)}, stalls ${shown(stallDifference)} s.`,
  );
}

/** Of the forecasts that were used, over sessions that used any. */
function meanAge(results) {
  const ages = results.map(({ age }) => age).filter((age) => age !== undefined);
  return ages.length === 0 ? '' : mean(ages).toFixed(2);
}

/** Means, and differences to the same sessions of another variant. */
function compared(own, others) {
  const qoe = ({ qoe: { linear } }) => linear;
  return sources.meansWithInterval(
    {
      qoe: own.map(qoe),
      stall: own.map((result) => result.stallSeconds),
      qoeDifference: own.map((result, i) => qoe(result) - qoe(others[i])),
      stallDifference: own.map((result, i) => result.stallSeconds - others[i].stallSeconds),
    },
    { unitOf: sessions.map(({ unit }) => unit), unitCount: traces.length, seed: 1 },
  );
}

function shown({ value, ci95 }) {
  const signed = (number) => `${number >= 0 ? '+' : ''}${number.toFixed(2)}`;
  return ci95 === null ? signed(value) : `${signed(value)} (${signed(ci95[0])}, ${signed(ci95[1])})`;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function play({ trace, startSeconds }, service) {
  const builtIn = sources.createBuiltInForecaster();
  const utcMs = sources.traceStartUtcMs(trace.metadata) + startSeconds * 1000;
  const client = service && new SimulatedService(sources, { ...service, utcMs });
  const forecaster = new sources.ForecastChain(client === undefined ? [builtIn] : [client, builtIn]);
  const controller = sources.createController('mpc-l');
  const result = sources.simulateSession({ trace, scenario, controller, startSeconds, forecaster });
  return {
    ...result,
    usedShare: client ? client.used / client.asked : 0,
    age: client?.used > 0 ? client.ages / client.used : undefined,
  };
}

report();
