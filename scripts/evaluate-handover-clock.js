/**
 * `node scripts/evaluate-handover-clock.js [--write]`: how well the handover clock does in simulated sessions on the
 * recordings of ../shared/data, with constants fitted to other recording groups. Prints tables; with --write they
 * replace those in docs/handover-clock.md. Half a minute.
 * With --shipped the constants that ship are judged instead, which have seen all recordings.
 *
 * `node scripts/evaluate-handover-clock.js --fit 0|1|2|3|all [seconds]`: fits the constants without the groups of a fold
 * (or to all, for predictor/handover-clock/level-parameters.ts) from those in evaluate-handover-clock.folds.json, and
 * keeps them there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledSources } from './bundled-sources.js';
import { FOLDS, fitConstants } from './evaluate-handover-clock.fit.js';
import {
  apart,
  DATA_SET_NAMES,
  latencySessions,
  recordedSessions,
  sessionsWithoutEpochs,
} from './evaluate-handover-clock.sessions.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const traces = join(root, '../shared/data/traces');
const foldsFile = fileURLToPath(new URL('evaluate-handover-clock.folds.json', import.meta.url));
const document = join(root, 'docs/handover-clock.md');
const EPOCHS = [1, 2, 4, 8];
/** A session shorter than a mark by so much still counts for it: its last segment is in before its media end. */
const SLACK_SECONDS = 4;
/** Errors of the time source that are called wrong, in turn. */
const WRONG_SECONDS = [-7, -3.5, 3.5, 7];
/** Prior probability of a LEO link for somebody whose earlier sessions were on one. */
const RETURNING_PRIOR = 0.9;
const LEAP_AT_SECONDS = 75;
const LEAPS_SECONDS = [3, 5, 7, -4];
const WITHOUT_PER_KIND = 300;
const FIT_SEED = 1;

await main(process.argv.slice(2));

async function main(args) {
  const sources = await bundledSources('scripts/evaluate-handover-clock.entry.js');
  if (args[0] === '--fit') {
    const which = args[1] ?? 'all';
    if (which !== 'all' && FOLDS[which] === undefined)
      throw new RangeError(`--fit: expected 0 to 3 or all, got ${which}`);
    const constants = fitConstants(sources, {
      recorded: recordedSessions(sources, traces),
      without: sessionsWithoutEpochs(sources, { folder: traces, perKind: 36, seed: 7 }),
      leaveOut: which === 'all' ? [] : FOLDS[which],
      from: readFolds()[which],
      seconds: Number(args[2] ?? 90),
      seed: FIT_SEED,
      progress: console.error,
    });
    const folds = { ...readFolds(), [which]: constants };
    writeFileSync(foldsFile, `${JSON.stringify(folds, null, 2)}\n`);
    console.log(JSON.stringify(constants));
    return;
  }
  const tables = evaluate(sources, args.includes('--shipped') ? {} : readFolds());
  console.log(tables);
  if (args.includes('--write')) {
    const [before, , after] = readFileSync(document, 'utf8').split(
      /(?<=<!-- results -->\n)|(?=<!-- end of results -->)/,
    );
    writeFileSync(document, `${before}\n${tables}\n${after}`);
  }
}

function readFolds() {
  return JSON.parse(readFileSync(foldsFile, 'utf8'));
}

function evaluate(sources, folds) {
  const parametersFor = (group) => folds[FOLDS.findIndex((groups) => groups.includes(group))];
  const recorded = recordedSessions(sources, traces);
  const clockFor = (session, time, leoPrior = 0.5) => {
    const rateParameters = session.group && parametersFor(session.group);
    const clock = new sources.HandoverClock({ leoPrior, ...(rateParameters && { rateParameters }) });
    clock.start({ seed: 0, ...time });
    return clock;
  };
  const utc = (session, errorSeconds, uncertainty = 2) => ({
    utcMsAtStart: (session.utcSeconds + errorSeconds) * 1000,
    utcUncertaintySeconds: uncertainty,
  });
  const times = {
    'right to 2 s': (session) => utc(session, 0),
    'off by 3.5 or 7 s': (session, i) => utc(session, WRONG_SECONDS[i % WRONG_SECONDS.length]),
    unknown: () => ({}),
  };

  const accuracy = [];
  const recognition = [];
  for (const [time, told] of Object.entries(times)) {
    for (const dataset of DATA_SET_NAMES) {
      const sessions = recorded.filter((session) => session.dataset === dataset);
      const marks = atEpochs(sessions, (session, i) => clockFor(session, told(session, i)));
      accuracy.push([time, dataset, sessions.length, ...marks.map(errorCell)]);
      recognition.push([time, dataset, ...marks.map((rows) => share(rows, ({ estimate }) => estimate.isLeo))]);
    }
  }

  for (const dataset of DATA_SET_NAMES) {
    const sessions = recorded.filter((session) => session.dataset === dataset);
    const marks = atEpochs(sessions, (session) => clockFor(session, utc(session, 0), RETURNING_PRIOR));
    recognition.push([
      'right, LEO likely (0.9)',
      dataset,
      ...marks.map((rows) => share(rows, ({ estimate }) => estimate.isLeo)),
    ]);
  }

  const pings = latencySessions(sources, join(root, '../shared/data/rtt/lls-victoria'));
  const latency = Object.entries(times).map(([time, told]) => {
    const marks = atEpochs(pings, (session, i) => clockFor(session, told(session, i)));
    return [time, pings.length, ...marks.map(errorCell)];
  });

  const leaping = recorded.filter(({ durationSeconds }) => durationSeconds >= LEAP_AT_SECONDS + 90);
  const leaps = [true, false].flatMap((told) =>
    DATA_SET_NAMES.flatMap((dataset) => {
      const sessions = leaping
        .filter((session) => session.dataset === dataset)
        .map((session, i) => leapt(session, LEAPS_SECONDS[i % LEAPS_SECONDS.length]));
      if (sessions.length === 0) return [];
      const marks = atEpochs(sessions, (session) => clockFor(session, utc(session, 0)), {
        fromSeconds: LEAP_AT_SECONDS,
        // UTC does not leap with the session's clock.
        atLeap: (clock, { leapSeconds, utcSeconds }) =>
          told && clock.tellTime(LEAP_AT_SECONDS + leapSeconds, (utcSeconds + LEAP_AT_SECONDS) * 1000),
      });
      return [[told ? 'told' : 'not told', dataset, sessions.length, ...marks.map(errorCell)]];
    }),
  );

  const without = sessionsWithoutEpochs(sources, { folder: traces, perKind: WITHOUT_PER_KIND, seed: 20 });
  const alarms = [...new Set(without.map(({ kind }) => kind))].map((kind) => {
    const sessions = without.filter((session) => session.kind === kind);
    const judged = (constantsOf) =>
      sessions.map((session, i) => {
        const rateParameters = constantsOf(i);
        const clock = new sources.HandoverClock(rateParameters && { rateParameters });
        // Every fifth does not know the time.
        clock.start({ seed: 0, ...(i % 5 > 0 && utc(session, 0)) });
        return greatestRatio(clock, session);
      });
    const ratios = judged(() => undefined);
    const claims = (rows) => rows.filter(({ claimed }) => claimed).length;
    const sorted = ratios.map(({ most }) => most).sort((a, b) => a - b);
    const at = (level) => sorted[Math.min(sorted.length - 1, Math.floor(level * sorted.length))].toFixed(1);
    return [
      kind,
      sessions.length,
      claims(ratios),
      claims(judged((i) => folds[i % FOLDS.length])),
      at(0.5),
      at(0.95),
      at(1),
    ];
  });

  const after = EPOCHS.map((epochs) => `after ${epochs}`);
  return [
    'Error of the position in s (median, 80th percentile) and share of sessions within 1.5 s, after so many epochs:\n',
    table(['time source', 'recordings', 'sessions', ...after], accuracy),
    '\nShare of sessions in which the link was taken for LEO:\n',
    table(['time source', 'recordings', ...after], recognition),
    '\nLinks without epochs, sessions of 5 minutes: how many were ever taken for LEO, and the greatest log likelihood ratio in a session (median, 95th percentile, most):\n',
    table(['link', 'sessions', 'taken for LEO', "with the folds' constants", 'median', '95 %', 'most'], alarms),
    `\nAfter the session's clock leapt by 3, 5, 7 or -4 s at second ${LEAP_AT_SECONDS} (time source right to 2 s), epochs since the leap, with the time told again or not:\n`,
    table(['time', 'recordings', 'sessions', ...after], leaps),
    "\nFrom request latencies alone (pings of a stationary dish in Victoria, one per 2 or 4 s, and a server's time):\n",
    table(['time source', 'sessions', ...after], latency),
  ].join('\n');
}

/**
 * Per number of epochs since `fromSeconds`, `{ error, estimate }` of each session that lasts so long. `atLeap` is called when
 * the session's clock has leapt.
 */
function atEpochs(sessions, clockOf, { fromSeconds = 0, atLeap = () => {} } = {}) {
  const marks = EPOCHS.map(() => []);
  sessions.forEach((session, i) => {
    const clock = clockOf(session, i);
    let next = 0;
    const seconds = () => fromSeconds + EPOCHS[next] * 15;
    const mark = () => {
      const estimate = clock.estimate(seconds());
      marks[next++].push({ estimate, error: apart(estimate.phaseSeconds, session.boundary) });
    };
    for (const [index, observation] of session.observations.entries()) {
      const at = observation.endSeconds ?? observation.atSeconds;
      while (next < EPOCHS.length && at > seconds()) mark();
      if (next === EPOCHS.length) return;
      if (index === session.leapIndex) atLeap(clock, session);
      clock.observe(observation);
    }
    while (next < EPOCHS.length && session.durationSeconds + SLACK_SECONDS >= seconds()) mark();
  });
  return marks;
}

/** The same session with a clock that jumps ahead (or, with a negative leap, back) at `LEAP_AT_SECONDS`. */
function leapt(session, seconds) {
  const isLate = ({ endSeconds, atSeconds }) => (endSeconds ?? atSeconds) > LEAP_AT_SECONDS;
  const observations = [];
  for (const observation of session.observations) {
    const shifted = { ...observation };
    for (const field of ['startSeconds', 'endSeconds', 'atSeconds']) {
      if (isLate(observation) && field in shifted) shifted[field] += seconds;
    }
    observations.push(shifted);
  }
  return {
    ...session,
    observations,
    leapSeconds: seconds,
    leapIndex: session.observations.findIndex(isLate),
    boundary: session.boundary + seconds,
    durationSeconds: session.durationSeconds + seconds,
  };
}

function greatestRatio(clock, session) {
  let most = Number.NEGATIVE_INFINITY;
  let claimed = false;
  for (const observation of session.observations) {
    clock.observe(observation);
    const { logLikelihoodRatio, isLeo } = clock.estimate(0);
    most = Math.max(most, logLikelihoodRatio);
    claimed ||= isLeo;
  }
  return { most, claimed };
}

function errorCell(rows) {
  if (rows.length < 5) return '-';
  const errors = rows.map(({ error }) => error).sort((a, b) => a - b);
  const at = (level) => errors[Math.floor(level * errors.length)];
  return `${at(0.5).toFixed(2)}, ${at(0.8).toFixed(1)}; ${share(rows, ({ error }) => error < 1.5)}`;
}

function share(rows, holds) {
  return rows.length < 5 ? '-' : `${Math.round((100 * rows.filter(holds).length) / rows.length)} %`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
