/**
 * What `bench-mpc-l.js` times, for Node and browsers alike: `decide` and `reconsider` of MPC-L on random states of the
 * scenarios, with quantile forecasts like those of a forecaster. Each call is timed once.
 */
import { createController, qoeWeights } from '../abr/index.ts';

/** Buffer cap and segment in seconds, the ladder, and the horizon that follows from the first two. */
const SCENARIOS = [
  { name: 'uhd-8', capSeconds: 8, segmentSeconds: 4, ladderMbps: [3, 8, 15, 30, 60, 120], horizon: 5 },
  { name: 'uhd-30', capSeconds: 30, segmentSeconds: 4, ladderMbps: [3, 8, 15, 30, 60, 120], horizon: 10 },
  {
    name: 'pensieve-60',
    capSeconds: 60,
    segmentSeconds: 4,
    ladderMbps: [0.3, 0.75, 1.2, 1.85, 2.85, 4.3],
    horizon: 16,
  },
];
/** As the gradient-boosted forecasters have them. */
const STEP_ENDS_SECONDS = [1, 2, 3, 4, 5, 6, 8];
const LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95];
/** Rows of sizes that a player shows ahead. */
const SIZES_AHEAD = 8;

/** Mulberry32. */
function seeded(seed) {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Quantiles that widen with time around `medianBps`, and move on from step to step. */
function forecastOf(random, medianBps, nowSeconds) {
  let spread = 0.2 + 0.3 * random();
  let middle = medianBps;
  const quantilesBps = STEP_ENDS_SECONDS.map(() => {
    spread *= 1.1;
    middle *= 0.85 + 0.3 * random();
    return [-1.64, -0.67, 0, 0.67, 1.64].map((score) => middle * Math.exp(spread * score));
  });
  return {
    issuedAtMs: (nowSeconds - random()) * 1000,
    source: 'bench',
    stepEndsSeconds: STEP_ENDS_SECONDS,
    levels: LEVELS,
    quantilesBps,
    rankCorrelation: 0.7 + 0.01 * Math.floor(20 * random()),
    handovers: [],
  };
}

function stateOf(random, { capSeconds, segmentSeconds, ladderMbps }, rateBps) {
  const ladderBps = ladderMbps.map((mbps) => mbps * 1e6);
  const downloads = Array.from({ length: 16 }, (_, segmentIndex) => {
    const bitrateBps = ladderBps[Math.floor(random() * ladderBps.length)];
    const sizeBits = bitrateBps * segmentSeconds * (0.8 + 0.4 * random());
    return {
      segmentIndex,
      bitrateBps,
      receivedBits: sizeBits,
      sizeBits,
      requestedAtSeconds: 4 * segmentIndex,
      downloadSeconds: sizeBits / (rateBps * (0.7 + 0.6 * random())),
      latencySeconds: 0.03 + 0.02 * random(),
      abandoned: false,
    };
  });
  return {
    nowSeconds: 64,
    started: true,
    bufferLevelSeconds: random() * (capSeconds - segmentSeconds),
    bufferCapSeconds: capSeconds,
    segmentSeconds,
    segmentIndex: 16,
    segmentsRemaining: 32,
    ladderBps,
    upcomingSizesBits: Array.from({ length: SIZES_AHEAD }, () => {
      const factor = 0.8 + 0.4 * random();
      return ladderBps.map((bps) => bps * segmentSeconds * factor);
    }),
    previousBitrateBps: ladderBps[Math.floor(random() * ladderBps.length)],
    downloads,
    weights: qoeWeights('linear', ladderBps),
  };
}

/** A rate somewhere in the ladder, even in its logarithm. */
function rateIn(random, { ladderMbps }) {
  const lowest = ladderMbps[0] * 1e6;
  return lowest * (ladderMbps[ladderMbps.length - 1] / ladderMbps[0]) ** random();
}

function decideCase(random, scenario) {
  const rateBps = rateIn(random, scenario);
  const state = stateOf(random, scenario, rateBps);
  return { state, forecast: forecastOf(random, rateBps, state.nowSeconds) };
}

/** A download that has become late: the link falls to a tenth, so that it has to be weighed against all lower ones. */
function reconsiderCase(random, scenario) {
  const rateBps = rateIn(random, scenario);
  const { segmentSeconds } = scenario;
  const state = stateOf(random, scenario, rateBps);
  state.bufferLevelSeconds = random() * Math.min(state.bufferLevelSeconds, segmentSeconds);
  const { ladderBps } = state;
  const current = ladderBps.length - 1 - Math.floor(random() * 2);
  const sizeBits = state.upcomingSizesBits[0][current];
  const inFlight = {
    segmentIndex: state.segmentIndex,
    bitrateBps: ladderBps[current],
    sizeBits,
    requestedAtSeconds: state.nowSeconds - 1,
    receivedBits: 0.3 * random() * sizeBits,
    firstByteAtSeconds: state.nowSeconds - 0.95,
    lastProgressAtSeconds: state.nowSeconds - 0.1,
    abandonments: 0,
  };
  return { state, inFlight, forecast: forecastOf(random, rateBps / 10, state.nowSeconds) };
}

function summary(micros) {
  const sorted = Float64Array.from(micros).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { p50: at(0.5), p99: at(0.99), max: sorted[sorted.length - 1] };
}

function timed(cases, call) {
  return cases.map((one) => {
    const began = performance.now();
    call(one);
    return 1000 * (performance.now() - began);
  });
}

/**
 * Rows `{ what, horizon, first, fresh: {p50, max}, warm: {p50, p99, max} }` in microseconds. `first` is the very first
 * call of a controller, `fresh` the first 50 (in the first row nothing has been compiled yet), `warm` the rest.
 */
export function measure(count) {
  const rows = [];
  for (const scenario of SCENARIOS) {
    for (const [what, makeCase, call] of [
      ['decide', decideCase, (controller) => (one) => controller.decide(one.state, one.forecast)],
      [
        'reconsider',
        reconsiderCase,
        (controller) => (one) => controller.reconsider(one.state, one.inFlight, one.forecast),
      ],
    ]) {
      const random = seeded(1);
      const cases = Array.from({ length: count }, () => makeCase(random, scenario));
      const micros = timed(cases, call(createController('mpc-l')));
      rows.push({
        what: `${what}, ${scenario.name}`,
        horizon: scenario.horizon,
        first: micros[0],
        fresh: summary(micros.slice(0, 50)),
        warm: summary(micros.slice(Math.min(500, count >> 1))),
      });
    }
  }
  return rows;
}
