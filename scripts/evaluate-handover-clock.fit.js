/**
 * Fits the constants of the handover clock's evidence to recordings, leaving whole recording groups out: a random search
 * (1 + 1 evolution strategy, a step size per constant) from round numbers.
 */
import { apart, EPOCH_SECONDS } from './evaluate-handover-clock.sessions.js';

/** Recording groups that each fold leaves out. Together they are all groups. */
export const FOLDS = [
  ['starnet-osn', 'sat-vs-cell-2023-04-12', 'sat-vs-cell-2023-04-17'],
  ['starnet-us', 'sat-vs-cell-2023-04-05', 'sat-vs-cell-2023-04-06', 'autobahn-2024-04-19'],
  ['starnet-vic', 'sat-vs-cell-2023-04-04', 'sat-vs-cell-2023-04-10', 'sat-vs-cell-2023-04-13'],
  ['tum-munich-2023-07', 'sat-vs-cell-2023-04-19', 'sat-vs-cell-2023-04-20'],
];

const FIRST_GUESS = {
  drift: 0.5,
  jump: 2,
  noise: 0.5,
  dipDepth: 1.5,
  dipSeconds: 1,
  lagSeconds: -0.25,
  steady: [
    [0.5, 0.5],
    [0.05, 2],
  ],
  firstVolatility: 0.2,
  volatilityMemory: 3,
  volatilityLimit: 50,
  weight: 0.5,
};
/** What the search leaves as it is: the length of the dip, and how the volatility is averaged. */
const KEPT = ['dipSeconds', 'firstVolatility', 'volatilityMemory', 'volatilityLimit'];
const MARKS_SECONDS = [15, 30, 60, 120];
/** Seconds of a session without epochs that count. */
const WITHOUT_SECONDS = 180;
/** Sessions that the search looks at: of each data set, and of links without epochs. */
const SESSIONS = { 'driving UDP': 36, 'driving TCP': 36, other: 20, without: 90 };
/** What recognising a LEO link counts beside finding the position (ln density). */
const RECOGNITION_WEIGHT = 2;
/** A link is recognised above the log likelihood ratio that so many sessions without epochs come to. */
const FALSE_ALARMS = 2;

/** The best constants found in `seconds`, rounded to two digits; the search starts at `from`, if any. */
export function fitConstants(sources, { recorded, without, leaveOut, from, seconds, seed, progress }) {
  const random = sources.seededRandom(seed);
  const some = (list, count) => {
    const rest = [...list];
    return Array.from({ length: Math.min(count, rest.length) }, () => {
      return rest.splice(Math.floor(random() * rest.length), 1)[0];
    });
  };
  const allowed = recorded.filter(({ group }) => !leaveOut.includes(group)).map(throughputOnly);
  const datasets = [...new Set(allowed.map(({ dataset }) => dataset))];
  const sets = datasets.map((dataset) =>
    some(
      allowed.filter((session) => session.dataset === dataset),
      SESSIONS[dataset] ?? SESSIONS.other,
    ),
  );
  const others = some(without, SESSIONS.without).map(throughputOnly);
  const score = (parameters) => {
    const greatest = others.map((session) => greatestRatio(sources, parameters, session)).sort((a, b) => b - a);
    const threshold = mean(greatest.slice(0, FALSE_ALARMS));
    // In units of how links without epochs differ, or small ratios would do as well as clear ones.
    const softness = (threshold - greatest[greatest.length >> 1]) / 3 + 0.05;
    return mean(
      sets.map((sessions) =>
        mean(sessions.map((session, i) => scoreOf(sources, parameters, { session, i, threshold, softness }))),
      ),
    );
  };

  let best = from ?? FIRST_GUESS;
  let bestScore = score(best);
  const steps = new Map();
  const end = performance.now() + seconds * 1000;
  let tries = 0;
  for (; performance.now() < end; tries++) {
    const candidate = structuredClone(best);
    const changed = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const names = Object.keys(FIRST_GUESS).filter((name) => !KEPT.includes(name));
      const name = names[Math.floor(random() * names.length)];
      return name === 'steady' ? `steady ${Math.floor(random() * 4)}` : name;
    });
    for (const name of changed) {
      const step = steps.get(name) ?? 0.6;
      const factor = Math.exp((random() - 0.5) * 2 * step);
      if (name === 'lagSeconds') candidate.lagSeconds += (random() - 0.5) * step;
      else if (name.startsWith('steady')) candidate.steady[name.at(-1) >> 1][name.at(-1) & 1] *= factor;
      else candidate[name] *= factor;
    }
    const candidateScore = score(candidate);
    const better = candidateScore > bestScore;
    if (better) [best, bestScore] = [candidate, candidateScore];
    for (const name of changed) {
      steps.set(name, Math.max(0.08, Math.min(1.2, (steps.get(name) ?? 0.6) * (better ? 1.6 : 0.95))));
    }
  }
  progress(`${tries} tries, score ${bestScore.toFixed(3)}`);
  return JSON.parse(
    JSON.stringify(best, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(2)) : value)),
  );
}

/** ln density of the true position, and how clearly the link is LEO, in the mean over the marks. */
function scoreOf(sources, rateParameters, { session, i, threshold, softness }) {
  const clock = new sources.HandoverClock({ rateParameters });
  // Half of the sessions know the time.
  clock.start({ seed: 0, ...(i % 2 === 0 && { utcMsAtStart: session.utcSeconds * 1000 }) });
  let sum = 0;
  let marks = 0;
  for (const observation of session.observations) {
    while (marks < MARKS_SECONDS.length && observation.endSeconds > MARKS_SECONDS[marks]) {
      const positions = clock.positionProbabilities();
      let density = 0;
      let total = 0;
      positions.forEach((probability, cell) => {
        const distance = apart((cell * EPOCH_SECONDS) / positions.length, session.boundary);
        const share = Math.exp(-0.5 * (distance / 0.5) ** 2);
        density += probability * share;
        total += share;
      });
      const { logLikelihoodRatio } = clock.estimate(0);
      sum += Math.log(((density / total) * positions.length) / 6 + 1e-4);
      sum += RECOGNITION_WEIGHT / (1 + Math.exp((threshold - logLikelihoodRatio) / softness));
      marks++;
    }
    if (marks === MARKS_SECONDS.length) break;
    clock.observe(observation);
  }
  return marks === 0 ? 0 : sum / marks;
}

function greatestRatio(sources, rateParameters, session) {
  const clock = new sources.HandoverClock({ rateParameters });
  clock.start({ seed: 0, utcMsAtStart: session.utcSeconds * 1000 });
  let most = Number.NEGATIVE_INFINITY;
  let next = 5;
  for (const observation of session.observations) {
    if (observation.endSeconds > WITHOUT_SECONDS) break;
    clock.observe(observation);
    if (observation.endSeconds < next) continue;
    next = observation.endSeconds + 3;
    most = Math.max(most, clock.estimate(0).logLikelihoodRatio);
  }
  return most;
}

function throughputOnly(session) {
  return { ...session, observations: session.observations.filter(({ kind }) => kind === 'throughput') };
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
