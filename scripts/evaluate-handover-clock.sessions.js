/**
 * The sessions that `evaluate-handover-clock.js` judges the handover clock by: what a forecaster is told in simulated
 * sessions of mpc-d on recordings of Starlink links, and on links without epochs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const EPOCH_SECONDS = 15;
const SCENARIO_NAMES = ['uhd-8', 'small-6', 'hd-16'];
/** Sessions start so far apart in a recording. */
const START_EVERY_SECONDS = 61;
const LEAST_SESSION_SECONDS = 50;
const NO_EPOCHS_SECONDS = 300;
export const SQUARE_PERIODS = [3, 5, 7.5, 10, 12, 15, 20, 30, 40, 45, 60, 90];

export function modulo(value, by) {
  return value - by * Math.floor(value / by);
}

/** Distance of two positions in the epoch, the short way round, in seconds. */
export function apart(a, b) {
  return Math.abs(modulo(a - b + EPOCH_SECONDS / 2, EPOCH_SECONDS) - EPOCH_SECONDS / 2);
}

/** Plays one session and keeps what its forecaster was told. */
function observationsOf(sources, { trace, scenario, startSeconds, segmentCount }) {
  const observations = [];
  sources.simulateSession({
    trace,
    scenario,
    startSeconds,
    segmentCount,
    controller: sources.createController('mpc-d'),
    forecaster: {
      name: 'listener',
      start() {},
      observe: (observation) => observations.push(observation),
      latest: () => undefined,
    },
  });
  return observations;
}

/**
 * Where in UTC's 15 s the level of a recording changes: the centre of what mean |change of ln rate| per second of the
 * epoch exceeds its median by, around its peak from 10 to 13 s. One-minute recordings of one clock are taken together.
 */
function boundaryPhase(sources, traces) {
  const sums = new Float64Array(EPOCH_SECONDS);
  const counts = new Float64Array(EPOCH_SECONDS);
  for (const trace of traces) {
    const rates = trace.ratesBps;
    const floor = (0.02 * rates.reduce((sum, rate) => sum + rate, 0)) / rates.length;
    const start = Math.round(sources.traceStartUtcMs(trace.metadata) / 1000);
    for (let i = 1; i < rates.length; i++) {
      const second = modulo(start + i, EPOCH_SECONDS);
      sums[second] += Math.abs(Math.log((rates[i] + floor) / (rates[i - 1] + floor)));
      counts[second]++;
    }
  }
  const profile = sums.map((sum, second) => sum / Math.max(1, counts[second]));
  const median = [...profile].sort((a, b) => a - b)[7];
  const height = (second) => profile[modulo(second, EPOCH_SECONDS)];
  const score = (second) => height(second) + (height(second - 1) + height(second + 1)) / 2;
  const peak = [10, 11, 12, 13].reduce((best, second) => (score(second) > score(best) ? second : best));
  let weight = 0;
  let moment = 0;
  for (const second of [peak - 1, peak, peak + 1]) {
    const excess = Math.max(0, height(second) - median);
    weight += excess;
    moment += excess * second;
  }
  return weight > 0 ? moment / weight : peak;
}

const DATA_SETS = [
  { name: 'starnet', folder: 'starnet', everySeconds: 37 },
  { name: 'tum-idp', folder: 'tum-idp', everySeconds: 4 * START_EVERY_SECONDS },
  { name: 'driving UDP', folder: 'sat-vs-cell', part: '-udp-', everySeconds: START_EVERY_SECONDS },
  { name: 'driving TCP', folder: 'sat-vs-cell', part: '-tcp-', everySeconds: START_EVERY_SECONDS },
  { name: 'autobahn', folder: 'autobahn', together: true, everySeconds: START_EVERY_SECONDS },
];
export const DATA_SET_NAMES = DATA_SETS.map(({ name }) => name);

/** `{ dataset, group, observations, boundary (session second), utcSeconds (at session second 0), durationSeconds }[]` */
export function recordedSessions(sources, folder) {
  const sessions = [];
  let number = 0;
  for (const { name, folder: inside, part, everySeconds, together } of DATA_SETS) {
    const traces = sources.readTraces([join(folder, inside)]).filter((trace) => !part || trace.name.includes(part));
    const common = together ? boundaryPhase(sources, traces) : undefined;
    for (const trace of traces) {
      const phase = common ?? boundaryPhase(sources, [trace]);
      const random = sources.seededRandom(++number);
      const utcSeconds = sources.traceStartUtcMs(trace.metadata) / 1000;
      for (let at = 0; at + LEAST_SESSION_SECONDS <= trace.durationSeconds; at += everySeconds) {
        // Between two of the recording's whole seconds, as sessions do.
        const startSeconds = at + random() * 2;
        const scenario = sources.SCENARIOS[SCENARIO_NAMES[sessions.length % SCENARIO_NAMES.length]];
        const left = trace.durationSeconds - startSeconds;
        const segmentCount = Math.min(scenario.segmentCount, Math.floor((left - 6) / scenario.segmentSeconds));
        const durationSeconds = segmentCount * scenario.segmentSeconds;
        if (durationSeconds < LEAST_SESSION_SECONDS - 10) continue;
        sessions.push({
          dataset: name,
          group: trace.metadata.recordingGroup,
          observations: observationsOf(sources, { trace, scenario, startSeconds, segmentCount }),
          boundary: modulo(phase - utcSeconds - startSeconds, EPOCH_SECONDS),
          utcSeconds: utcSeconds + startSeconds,
          durationSeconds,
        });
      }
    }
  }
  return sessions;
}

/** Sessions of 5 minutes on links without epochs, `perKind` of each kind: `{ kind, observations, utcSeconds }[]`. */
export function sessionsWithoutEpochs(sources, { folder, perKind, seed }) {
  const random = sources.seededRandom(seed);
  const seconds = NO_EPOCHS_SECONDS + 30;
  const recordings = sources.readTraces([
    join(folder, 'starnet'),
    join(folder, 'tum-idp'),
    join(folder, 'sat-vs-cell'),
  ]);
  const synthetic = (preset, i) =>
    sources.synthesizeTrace({
      preset,
      seed: seed * 1000 + i,
      durationSeconds: seconds,
      stepSeconds: i % 2 === 0 ? 1 : 0.1,
    });
  const noise = (spread) => Math.exp(spread * sources.normal(random));
  const fine = (name, rate) =>
    made(
      name,
      Array.from({ length: seconds * 10 }, (_, i) => rate(i / 10)),
    );
  const square = (i, spread) => {
    const period = SQUARE_PERIODS[i % SQUARE_PERIODS.length];
    const offset = random() * period;
    const swing = 0.2 + 0.6 * random();
    const mean = 40e6 * Math.exp(2 * random() - 1);
    return fine(`period ${period} s`, (second) => {
      const high = modulo(second + offset, period) < period / 2;
      return mean * (high ? 1 + swing : 1 - swing) * noise(spread);
    });
  };
  const kinds = {
    constant: (i) => fine('constant', () => 10e6 * (1 + (i % 10)) * noise([0, 0.005, 0.02][i % 3])),
    'cable (5 % noise)': (i) => synthetic('cable', i),
    'LTE-like': (i) => synthetic('lte', i),
    'square waves': (i) => square(i, 0),
    'square waves + 5 % noise': (i) => square(i, 0.05),
    'recordings, epochs shuffled': () => shuffled(recordings[Math.floor(random() * recordings.length)], random),
  };
  return Object.entries(kinds).flatMap(([kind, link]) =>
    Array.from({ length: perKind }, (_, i) => {
      const trace = link(i);
      const scenario = sources.SCENARIOS[SCENARIO_NAMES[i % SCENARIO_NAMES.length]];
      const segmentCount = Math.floor(NO_EPOCHS_SECONDS / scenario.segmentSeconds);
      return {
        kind,
        name: trace.name,
        observations: observationsOf(sources, {
          trace,
          scenario: { ...scenario, segmentCount },
          startSeconds: random() * 8,
          segmentCount,
        }),
        utcSeconds: random() * 60,
      };
    }),
  );
}

/** Pieces of 8 to 22 s from anywhere in a recording: its texture, but steps at no regular moments. */
function shuffled(recording, random) {
  const rates = [];
  while (rates.length < NO_EPOCHS_SECONDS + 30) {
    const length = 8 + Math.floor(random() * 15);
    const from = Math.floor(random() * (recording.ratesBps.length - length));
    for (let i = 0; i < length; i++) rates.push(recording.ratesBps[from + i] + 1e4);
  }
  return made(`shuffled ${recording.name}`, rates, 1);
}

function made(name, ratesBps, stepSeconds = 0.1) {
  return {
    name,
    stepEndsSeconds: Float64Array.from(ratesBps, (_, i) => Math.round((i + 1) * stepSeconds * 10) / 10),
    ratesBps: Float64Array.from(ratesBps),
    durationSeconds: Math.round(ratesBps.length * stepSeconds * 10) / 10,
    metadata: { dataset: name, recordingGroup: name },
  };
}

/**
 * Pings of a stationary dish, one every 2 or 4 s as requests are, each with 1 to 10 ms of a server's time on top. They
 * change at :12, :27, :42 and :57 by their clocks.
 */
export function latencySessions(sources, folder) {
  const sessions = [];
  const random = sources.seededRandom(3);
  const files = readdirSync(folder).filter((file) => file.endsWith('.csv'));
  files.forEach((file, recording) => {
    const rows = readFileSync(join(folder, file), 'utf8').trim().split('\n').slice(1);
    const pings = rows.map((row) => row.split(',').map(Number)).filter((row) => row[2] > 0);
    const { start_utc: startUtc } = JSON.parse(readFileSync(join(folder, file.replace('.csv', '.json')), 'utf8'));
    const utcSeconds = Date.parse(startUtc) / 1000;
    for (let start = 0; start + 180 < pings.at(-1)[0]; start += 37) {
      const observations = [];
      let i = 0;
      for (let second = 0; second < 180; second += (recording % 2 ? 2 : 4) * (0.9 + 0.2 * random())) {
        while (pings[i][0] < start + second) i++;
        const latencySeconds = pings[i][2] / 1000 + 0.004 * Math.exp(0.5 * sources.normal(random));
        observations.push({ kind: 'request-latency', atSeconds: second + latencySeconds, latencySeconds });
      }
      sessions.push({
        dataset: 'latency alone',
        observations,
        boundary: modulo(12 - utcSeconds - start, EPOCH_SECONDS),
        utcSeconds: utcSeconds + start,
        durationSeconds: 180,
      });
    }
  });
  return sessions;
}
