/**
 * `node scripts/evaluate-service.js [traces...]`: simulated sessions of MPC-L that take forecasts from the prediction
 * service, against sessions without it; a service that dies in the middle and comes back, and services that lie. Default:
 * the synthetic traces that come along, scenario uhd-8, sessions every 61 s. Prints a table in Markdown.
 *
 * The service is the real one in the simulator's time. Between it and the session stands what the client does, without
 * its network: reports twice a second, forecasts once a second, both 20 ms under way, staleness, and the judge.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledSources } from './bundled-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const SCENARIO = 'uhd-8';
const STARTS_SECONDS = 61;
const REPORT_SECONDS = 0.5;
const FORECAST_SECONDS = 1;
const UNDER_WAY_SECONDS = 0.02;
const STALE_SECONDS = 5;
const TICK_SECONDS = 0.1;
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

const sources = await bundledSources('scripts/evaluate-service.entry.js');
const traces = sources.readTraces(process.argv.length > 2 ? process.argv.slice(2) : [join(root, 'replay/traces')]);
const scenario = sources.SCENARIOS[SCENARIO];
const mediaSeconds = scenario.segmentSeconds * scenario.segmentCount;
const sessions = traces.flatMap((trace) => {
  const starts = [];
  for (let start = 0; start + mediaSeconds + 40 <= trace.durationSeconds; start += STARTS_SECONDS) starts.push(start);
  return starts.map((startSeconds) => ({ trace, startSeconds }));
});
function report() {
  const results = VARIANTS.map(({ service }) => sessions.map((session) => play(session, service)));
  const qoe = (result) => result.qoe.linear;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  console.log(
    `${sessions.length} sessions of ${traces.length} traces, ${SCENARIO}. QoE: linear, Mbit/s of undisturbed 4 s segments.\n`,
  );
  console.log('| sessions | QoE | of that without | stall s | worst 5 % s | forecasts of the service used |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  VARIANTS.forEach(({ name }, i) => {
    const stalls = results[i].map(({ stallSeconds }) => stallSeconds).sort((a, b) => b - a);
    const worst = stalls.slice(0, Math.ceil(stalls.length * 0.05));
    const own = mean(results[i].map(qoe));
    const used = mean(results[i].map(({ usedShare }) => usedShare));
    const cells = [
      name,
      own.toFixed(2),
      i === 0 ? '' : `${((own / mean(results[0].map(qoe)) - 1) * 100).toFixed(1)} %`,
      mean(stalls).toFixed(2),
      mean(worst).toFixed(1),
      i === 0 ? '' : `${(used * 100).toFixed(0)} %`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  });
}

function play({ trace, startSeconds }, service) {
  const builtIn = sources.createBuiltInForecaster();
  const utcMs = sources.traceStartUtcMs(trace.metadata) + startSeconds * 1000;
  const client = service && new Client({ ...service, utcMs });
  const forecaster = new sources.ForecastChain(client === undefined ? [builtIn] : [client, builtIn]);
  const controller = sources.createController('mpc-l');
  const result = sources.simulateSession({ trace, scenario, controller, startSeconds, forecaster });
  return { ...result, usedShare: client === undefined ? 0 : client.used / client.asked };
}

/** The client and the service behind it, in the session's time. */
class Client {
  name = 'service';
  used = 0;
  asked = 0;
  #options;
  #judge = new sources.ForecastJudge();
  #nowSeconds = 0;
  #ticks = 0;
  #service;
  #waiting = [];
  /** On their way: what happens when. */
  #underWay = [];
  #newest;

  constructor(options) {
    this.#options = options;
    this.#begin();
  }

  start() {}

  observe(observation) {
    if (observation.kind === 'throughput') {
      this.#judge.observe(observation.startSeconds, observation.endSeconds, observation.bits);
    }
    this.#waiting.push(observation);
  }

  latest(nowSeconds) {
    this.#advance(nowSeconds);
    const newest = this.#newest;
    this.asked++;
    if (newest === undefined || nowSeconds - newest.issuedAtMs / 1000 > STALE_SECONDS) return undefined;
    if (!this.#judge.accepts(newest, nowSeconds)) return undefined;
    this.used++;
    return newest;
  }

  #begin() {
    const clock = {
      utcMs: () => this.#options.utcMs + this.#nowSeconds * 1000,
      monotonicMs: () => this.#nowSeconds * 1000,
    };
    this.#service = new sources.PredictionService({ clock, version: '0' });
  }

  #advance(untilSeconds) {
    const { dies, lie = (forecast) => forecast, utcMs } = this.#options;
    for (; this.#ticks * TICK_SECONDS <= untilSeconds; this.#ticks++) {
      this.#nowSeconds = this.#ticks * TICK_SECONDS;
      const now = this.#nowSeconds;
      const isDead = dies !== undefined && now >= dies.fromSeconds && now < dies.untilSeconds;
      if (isDead) this.#service = undefined;
      else if (this.#service === undefined) this.#begin();
      for (const { act } of this.#underWay.filter(({ atSeconds }) => atSeconds <= now)) act();
      this.#underWay = this.#underWay.filter(({ atSeconds }) => atSeconds > now);
      if (this.#service === undefined) {
        this.#waiting = [];
        continue;
      }
      const service = this.#service;
      service.tick();
      if (isEvery(now, 1)) service.observeTelemetry({ atMs: utcMs + now * 1000, dropRate: 0 });
      if (isEvery(now, REPORT_SECONDS)) {
        const observations = this.#waiting.splice(0).map((observation) => onTheWire(observation, utcMs));
        this.#later(() => {
          if (this.#service === service) service.observe({ player: 'p', observations });
        });
      }
      if (!isEvery(now, FORECAST_SECONDS)) continue;
      const { forecast } = service.forecast();
      if (forecast === null) continue;
      const onSession = {
        ...lie(forecast),
        issuedAtMs: forecast.issuedAtMs - utcMs,
        handovers: forecast.handovers,
      };
      this.#later(() => {
        this.#newest = onSession;
        this.#judge.hear(onSession, this.#nowSeconds);
      });
    }
    this.#nowSeconds = untilSeconds;
  }

  #later(act) {
    this.#underWay.push({ atSeconds: this.#nowSeconds + UNDER_WAY_SECONDS, act });
  }
}

function isEvery(nowSeconds, period) {
  const times = nowSeconds / period;
  return Math.abs(times - Math.round(times)) < TICK_SECONDS / period / 2;
}

function onTheWire(observation, utcMs) {
  if (observation.kind === 'request-latency') {
    return {
      kind: observation.kind,
      atMs: utcMs + observation.atSeconds * 1000,
      latencyMs: observation.latencySeconds * 1000,
    };
  }
  const { startSeconds, endSeconds, ...rest } = observation;
  return { ...rest, startMs: utcMs + startSeconds * 1000, endMs: utcMs + endSeconds * 1000 };
}

report();
