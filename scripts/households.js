/**
 * `node scripts/households.js moves <results.json>...`: whether players of a household switch down together, and what
 * a late player gets, from results of `leo-abr simulate --household`.
 * `node scripts/households.js neighbours <four.json> <mixed.json>`: the QoE of the players that both households give the
 * same algorithm, in the second less in the first, with intervals over recording groups; and that of the others.
 * `node scripts/households.js forecasts <scenario> <traces>...`: the forecasts of mpc-l against the rates that its
 * downloads then had, alone and in households, from second 0 of each trace (seed 1). docs/households.md has the tables.
 */
import { readFileSync } from 'node:fs';
import { bundledSources } from './bundled-sources.js';

/** By the mean number of others on the link in a download, against that in the player's download before. */
const KINDS = [
  ['all', () => true],
  ['as many others as before', ({ change }) => Math.abs(change) <= 0.25],
  ['others came', ({ change }) => change > 0.25],
  ['others went', ({ change }) => change < -0.25],
];

const [command, ...rest] = process.argv.slice(2);
if (!['moves', 'neighbours', 'forecasts'].includes(command) || rest.length === 0) {
  console.error('usage: node scripts/households.js moves|neighbours|forecasts ..., see its first lines');
  process.exit(2);
}
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const table = (header, rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  console.log([line(header), line(header.map((_, i) => (i < 2 ? '---' : '--:'))), ...rows.map(line), ''].join('\n'));
};
if (command === 'moves') rest.forEach(moves);
else if (command === 'neighbours') await neighbours(...rest);
else await forecasts(rest[0], rest.slice(1));

function moves(file) {
  const { tool, sessions } = JSON.parse(readFileSync(file, 'utf8'));
  const households = new Map();
  for (const session of sessions) {
    const { dataset, trace, startSeconds, household } = session;
    const key = JSON.stringify([dataset, trace, startSeconds, household.algorithm]);
    households.set(key, [...(households.get(key) ?? []), session]);
  }
  const rows = [];
  for (const given of new Set(sessions.map(({ household }) => household.algorithm))) {
    const own = [...households.values()].filter(([first]) => first.household.algorithm === given);
    // Lag 0: within a second of each other; the other lags say what chance gives.
    const near = (lag) => {
      const shares = own.flatMap((players) => {
        const downs = players.map(switchesDown);
        return downs.flatMap((mine, i) =>
          mine.map((at) => downs.some((theirs, j) => j !== i && theirs.some((b) => Math.abs(b - at - lag) <= 1))),
        );
      });
      return percent(mean(shares.map(Number)));
    };
    const late = own.flatMap((players) => {
      const last = players.at(-1);
      const from = last.household.joinSeconds;
      const rate = (session) => {
        const after = session.segments.filter((row) => row.requestedAtSeconds + session.household.joinSeconds >= from);
        return after.length > 0 ? mean(after.map(({ bitrateBps }) => bitrateBps)) / 1e6 : Number.NaN;
      };
      const others = mean(players.slice(0, -1).map(rate));
      return [[rate(last), others, last.startupSeconds, players[0].startupSeconds, last.stallSeconds]];
    });
    const column = (i) => mean(late.map((values) => values[i]).filter(Number.isFinite)).toFixed(2);
    rows.push([tool.household.name, given, near(0), near(5), near(-5), near(7.5), ...[0, 1, 2, 3, 4].map(column)]);
  }
  const lags = ['within 1 s', 'at +5 s', 'at -5 s', 'at +7.5 s'];
  const last = ['last: Mbit/s', 'others then', 'startup s', 'first: startup s', 'last: stalls s'];
  table([file.replace(/.*\//, ''), 'given', ...lags, ...last], rows);
}

async function neighbours(...files) {
  const { meansWithInterval, resamplingUnits, seedOf } = await bundledSources('scripts/households.entry.js');
  const [before, after] = files.map((file) => JSON.parse(readFileSync(file, 'utf8')).sessions);
  const key = ({ dataset, trace, startSeconds, household: { algorithm, player } }) =>
    JSON.stringify([dataset, trace, startSeconds, algorithm, player]);
  const beforeAt = new Map(before.map((session) => [key(session), session]));
  const pairs = after
    .map((own) => ({ own, other: beforeAt.get(key(own)) }))
    .filter(({ own, other }) => own.algorithm === own.household.algorithm && other?.algorithm === own.algorithm)
    // In `mixed` the given algorithm has the first two seats.
    .filter(({ own }) => own.household.player < 2);
  const { unitOf, unitCount } = resamplingUnits(before);
  const rows = [...new Set(pairs.map(({ own }) => own.algorithm))].map((algorithm) => {
    const mine = pairs.filter(({ own }) => own.algorithm === algorithm);
    const samples = {
      before: mine.map(({ other }) => other.qoe.linear),
      change: mine.map(({ own, other }) => own.qoe.linear - other.qoe.linear),
      stalls: mine.map(({ own, other }) => own.stallSeconds - other.stallSeconds),
    };
    const units = { unitOf: mine.map(({ own }) => unitOf(own)), unitCount, seed: seedOf('neighbours') };
    const cell = ({ value, ci95 }) =>
      `${value.toFixed(2)}${ci95 ? ` (${ci95.map((x) => x.toFixed(2)).join(' to ')})` : ''}`;
    const { before: first, change, stalls } = meansWithInterval(samples, units);
    return [algorithm, String(mine.length), first.value.toFixed(2), cell(change), cell(stalls)];
  });
  table(['given', 'players', 'QoE in the first', 'change of QoE', 'of stalls, s'], rows);
  const beside = [...new Set(after.map(({ household }) => household.algorithm))].flatMap((given) =>
    [2, 3].map((seat) => {
      const seated = after.filter(({ household }) => household.algorithm === given && household.player === seat);
      const of = (value) => mean(seated.map(value)).toFixed(2);
      const bitrate = of(({ meanBitrateBps }) => meanBitrateBps / 1e6);
      return [seated[0].algorithm, given, of(({ qoe }) => qoe.linear), bitrate, of((one) => one.stallSeconds)];
    }),
  );
  table(['player of the second', 'beside', 'QoE', 'Mbit/s', 'stalls, s'], beside);
}

/** Seconds of the household. */
function switchesDown({ segments, household }) {
  return segments
    .filter((row, i) => i > 0 && row.bitrateBps < segments[i - 1].bitrateBps)
    .map((row) => row.requestedAtSeconds + household.joinSeconds);
}

async function forecasts(name, paths) {
  const { HOUSEHOLDS, ...project } = await bundledSources('scripts/households.entry.js');
  const scenario = project.resolveScenario(project.SCENARIOS[name]);
  const alone = { name: 'alone', players: [{ joinSeconds: 0, weight: 1 }], traffic: [] };
  const mpcL = project.simulatedAlgorithm('mpc-l');
  const rows = [];
  for (const household of [alone, HOUSEHOLDS.two, HOUSEHOLDS.four, HOUSEHOLDS.mixed, HOUSEHOLDS.download]) {
    const plan = project.planBenchmark({
      ...{ traces: project.readTraces(paths), scenario, starts: { atSeconds: [0] }, algorithms: ['mpc-l'], seed: 1 },
      household,
    });
    const outcomes = [];
    for (const { trace, startSeconds, segmentCount, seed } of plan.sessions) {
      const asked = [];
      const algorithmOf = (algorithm) => {
        if (algorithm !== 'mpc-l') return project.simulatedAlgorithm(algorithm);
        const records = [];
        asked.push(records);
        return { ...mpcL, play: (task) => mpcL.play({ ...task, onDecision: (record) => records.push(record) }) };
      };
      const task = { trace, scenario, startSeconds, segmentCount, seed, timings: false };
      const played = project.playHousehold(household, task, { algorithm: 'mpc-l', algorithmOf });
      for (const [player, records] of asked.entries()) outcomes.push(...outcomesOf(records, played, player));
    }
    for (const [kind, holds] of KINDS) rows.push([household.name, kind, ...cells(outcomes.filter(holds))]);
  }
  const header = ['household', 'downloads', 'n', 'below 10 %', 'below 50 %', 'below 90 %', 'got / median'];
  table(
    header,
    rows.filter(([, , n]) => n !== '0'),
  );
}

function cells(outcomes) {
  const below = [0.1, 0.5, 0.9].map((level) => percent(mean(outcomes.map(({ rank }) => Number(rank < level)))));
  const ratios = outcomes.map(({ ratio }) => Math.log(ratio));
  return [String(outcomes.length), ...below, Math.exp(mean(ratios)).toFixed(2)];
}

/** Of one player: each forecast at a decision, against the download that followed. */
function outcomesOf(records, played, player) {
  const { joinSeconds } = played[player].household;
  const decisions = records.filter(({ asked, forecast }) => asked === 'decide' && forecast?.levels !== undefined);
  const last = records.at(-1).state.downloads;
  const others = (download) => {
    const [from, to] = [download.requestedAtSeconds, download.requestedAtSeconds + download.downloadSeconds];
    const busy = played.flatMap(({ segments, household }, i) =>
      i === player ? [] : segments.map((row) => [row.requestedAtSeconds + household.joinSeconds - joinSeconds, row]),
    );
    const seconds = busy.map(([at, row]) => Math.max(0, Math.min(to, at + row.downloadSeconds) - Math.max(from, at)));
    return seconds.reduce((sum, value) => sum + value, 0) / (to - from);
  };
  return decisions.flatMap(({ state, forecast }) => {
    const n = state.downloads.length;
    const [before, download] = [last[n - 1], last[n]];
    if (before === undefined || download === undefined || download.abandoned || download.latencySeconds === undefined) {
      return [];
    }
    const seconds = download.downloadSeconds - download.latencySeconds;
    const from = download.requestedAtSeconds + download.latencySeconds - forecast.issuedAtMs / 1000;
    const rate = download.receivedBits / seconds;
    const expected = forecast.levels.map((_, level) => {
      let bits = 0;
      let at = 0;
      for (const [i, end] of forecast.stepEndsSeconds.entries()) {
        bits += forecast.quantilesBps[i][level] * Math.max(0, Math.min(end, from + seconds) - Math.max(at, from));
        at = end;
      }
      // Beyond the last step the forecast ends.
      return bits / Math.max(1e-9, Math.min(at, from + seconds) - from);
    });
    const above = expected.findIndex((bps) => bps >= rate);
    const [i, levels] = [above < 0 ? expected.length : above, forecast.levels];
    const [low, high] = [levels[i - 1] ?? 0, levels[i] ?? 1];
    const [lowBps, highBps] = [expected[i - 1] ?? 0, expected[i] ?? Number.POSITIVE_INFINITY];
    const rank =
      highBps > lowBps && Number.isFinite(highBps) ? low + ((high - low) * (rate - lowBps)) / (highBps - lowBps) : low;
    const middle = levels.findIndex((level) => level >= 0.5);
    const ratio = Math.max(1, rate) / Math.max(1, expected[middle]);
    return [{ rank, ratio, change: others(download) - others(before) }];
  });
}
