/**
 * `node scripts/recording-fidelity.js [--traces replay/traces] [--scenario uhd-8,hd-16,uhd-30]`: what `leo-abr trace record`
 * makes of a link that a player sees, by the longest pause that it bridges. MPC-L plays in the simulator; what it observes
 * is recorded as the service does and compared with the trace. Prints Markdown; docs/predictors.md has the outcome.
 */
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';

const { values } = parseArgs({
  options: {
    traces: { type: 'string', multiple: true, default: ['replay/traces'] },
    scenario: { type: 'string', default: 'uhd-8,hd-16,uhd-30' },
  },
});
const BRIDGES_SECONDS = [0, 1, 2, 4, 8];
/** As `leo-abr train` wants them. */
const SHORTEST_SECONDS = 30;
const START_SPACING_SECONDS = 61;
const LEAST_LEFT_SECONDS = 60;
/** Where the recordings begin; nothing depends on it. */
const START_MS = Date.UTC(2026, 0, 1);
/** Rates below count as this much: 0.1 Mbit/s. */
const LEAST_BPS = 1e5;

const sources = await bundledSources('scripts/recording-fidelity.entry.js');
const { createController, createBuiltInForecaster, linkOf, parseTraceCsv, runsOf, simulateSession, TraceRows } =
  sources;

/** The forecaster, and the rows that the service would write of what it is told, in tenths of a second. */
function recorded() {
  const forecaster = createBuiltInForecaster();
  const rows = new TraceRows();
  const seen = { rows, text: '', seconds: 0 };
  const observe = (observation) => {
    forecaster.observe(observation);
    if (observation.kind === 'request-latency') return;
    const { startSeconds, endSeconds, bits } = observation;
    for (let at = startSeconds; at < endSeconds - 1e-9; ) {
      const end = Math.min(endSeconds, (Math.floor(at * 10 + 1e-6) + 1) / 10);
      const piece = { kind: observation.kind, startSeconds: at, endSeconds: end };
      if (bits !== undefined) piece.bits = (bits * (end - at)) / (endSeconds - startSeconds);
      seen.text += rows.add(piece, undefined);
      at = end;
    }
    seen.seconds = Math.max(seen.seconds, endSeconds);
  };
  const listening = {
    name: 'recorded',
    start: (context) => forecaster.start(context),
    latest: (nowSeconds) => forecaster.latest(nowSeconds),
    observe,
  };
  return { seen, listening };
}

function play(scenario) {
  const sessions = [];
  for (const trace of sources.readTraces(values.traces)) {
    for (let start = 0; start + LEAST_LEFT_SECONDS <= trace.durationSeconds; start += START_SPACING_SECONDS) {
      const { seen, listening } = recorded();
      simulateSession({
        trace,
        scenario,
        controller: createController('mpc-l'),
        startSeconds: start,
        forecaster: listening,
        seed: 1,
      });
      const metadata = { dataset: 'recorded', recordingGroup: trace.name, startUtcMs: START_MS };
      const file = `${trace.name} from ${start} s`;
      const pieces = seen.text === '' ? [] : parseTraceCsv(seen.text, { name: file, file, metadata });
      const link = linkOf(trace, scenario).from(start);
      sessions.push({ pieces, seconds: seen.seconds, link, firstSecond: seen.rows.startSecond });
    }
  }
  return sessions;
}

const ln = (bps) => Math.log(Math.max(LEAST_BPS, bps));
const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const percent = (share) => (Number.isNaN(share) ? '' : `${(100 * share).toFixed(0)} %`);

/** Errors and changes from second to second, as differences of ln. */
function compare(sessions, bridgeSeconds) {
  const errors = { known: [], bridged: [] };
  const steps = { true: [], recorded: [] };
  let seconds = 0;
  for (const { pieces, link, firstSecond } of sessions) {
    const secondOf = (trace) => firstSecond + Math.round((trace.metadata.startUtcMs - START_MS) / 1000);
    const known = new Set(pieces.flatMap((piece) => Array.from(piece.ratesBps, (_, i) => secondOf(piece) + i)));
    for (const { trace } of runsOf(pieces, bridgeSeconds)) {
      if (trace.durationSeconds < SHORTEST_SECONDS) continue;
      seconds += trace.durationSeconds;
      const begin = secondOf(trace);
      const was = Array.from(trace.ratesBps, (_, i) =>
        ln(link.cumulativeBits(begin + i + 1) - link.cumulativeBits(begin + i)),
      );
      const is = Array.from(trace.ratesBps, ln);
      is.forEach((value, i) => {
        errors[known.has(begin + i) ? 'known' : 'bridged'].push(Math.abs(value - was[i]));
        if (i === 0) return;
        steps.true.push(Math.abs(was[i] - was[i - 1]));
        steps.recorded.push(Math.abs(value - is[i - 1]));
      });
    }
  }
  const bridgedShare = errors.bridged.length / (errors.bridged.length + errors.known.length);
  return {
    seconds,
    bridgedShare,
    known: mean(errors.known),
    bridged: mean(errors.bridged),
    calmer: 1 - mean(steps.recorded) / mean(steps.true),
  };
}

console.log(
  '| set-up | bridged up to | in recordings | of it bridged | error, measured | error, bridged | swings calmer by |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const name of values.scenario.split(',')) {
  const scenario = sources.SCENARIOS[name];
  if (scenario === undefined) {
    console.error(`--scenario: expected one of ${Object.keys(sources.SCENARIOS).join(', ')}, got ${name}`);
    process.exit(2);
  }
  const sessions = play(scenario);
  const total = sessions.reduce((sum, one) => sum + one.seconds, 0);
  for (const bridge of BRIDGES_SECONDS) {
    const { seconds, bridgedShare, known, bridged, calmer } = compare(sessions, bridge);
    const cells = [percent(seconds / total), ...[bridgedShare, known, bridged, calmer].map(percent)];
    console.log(`| ${name} | ${bridge} s | ${cells.join(' | ')} |`);
  }
}
