/** `npm run tables`. */
import { existsSync, readFileSync } from 'node:fs';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const { values, positionals, refuse } = commandLine(
  `usage: npm run tables -- [--ingredients] <results.json>...

Prints the tables of docs/mpc-l.md in Markdown, from results of \`leo-abr simulate\`: mpc-l against mpc-d per scenario and
data set (sat-vs-cell also by transport), or with --ingredients the difference of mpc-l and each of its ablations, per QoE
component.`,
  { options: { ingredients: { type: 'boolean', default: false } }, positionals: Number.POSITIVE_INFINITY },
);
if (positionals.length === 0) refuse('expected files of results');
const absent = positionals.find((file) => !existsSync(file));
if (absent !== undefined) refuse(`${absent}: no such file`);

const evaluation = (name) => bundledSources(`replay/evaluation/${name}.ts`);
const { summarise } = await evaluation('summary');
const { shownGapClosed } = await evaluation('verdicts');
const { componentDifference } = await evaluation('component-differences');
const { unitsByDataset } = await evaluation('resampling-units');
const rows = positionals.flatMap((file) => {
  const { scenario, sessions } = JSON.parse(readFileSync(file, 'utf8'));
  return [...places(sessions)].flatMap(([place, members]) =>
    values.ingredients ? ingredientRows(scenario, place, members) : resultRows(scenario, place, members),
  );
});
const columns = values.ingredients
  ? 'mpc-l minus|QoE|of the top bitrate|stall seconds|startup seconds'
  : 'sessions|algorithm|QoE|ratio|gap closed|stall s|worst 5 % s|against mpc-d|severe';
const header = ['scenario', 'recordings', ...columns.split('|')];
for (const row of [header, header.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);

/** Sessions by data set, and those of sat-vs-cell also by transport, because TCP and UDP see different links. */
function places(sessions) {
  const found = new Map();
  const add = (place, session) => found.set(place, [...(found.get(place) ?? []), session]);
  for (const session of sessions) {
    const transport = /-(udp|tcp)-/.exec(session.trace)?.[1];
    if (transport) add(`${session.dataset} ${transport.toUpperCase()}`, session);
    add(session.dataset, session);
  }
  return found;
}

function resultRows(scenario, place, sessions) {
  return summarise(sessions, { scenario, baseline: 'mpc-d', seed: 1 }).map((row, _, summary) => {
    const against = row.vsBaseline;
    return [
      scenario.name,
      place,
      row.sessions,
      row.algorithm,
      row.qoeMean.toFixed(2),
      estimate(against?.qoeMeanRatio, 3),
      row.algorithm === 'mpc-o' ? '1' : estimate(shownGapClosed(row, summary), 2),
      row.stallSecondsMean.toFixed(2),
      row.stallSecondsWorst5pct.toFixed(2),
      estimate(against?.worst5pctDiff, 2),
      `${(100 * row.severeShare).toFixed(1)} %`,
    ];
  });
}

function ingredientRows(scenario, place, sessions) {
  const of = (name) => sessions.filter(({ algorithm }) => algorithm === name);
  const algorithms = [...new Set(sessions.map(({ algorithm }) => algorithm))];
  const top = scenario.ladderBps.at(-1) / 1e6;
  return algorithms
    .filter((name) => name.startsWith('mpc-l:no-'))
    .map((name) => {
      const options = { scenario, ways: unitsByDataset(sessions), seed: 1, label: `${place} ${name}` };
      const { qoe, stallSeconds, startupSeconds } = componentDifference(of('mpc-l'), of(name), options);
      return [
        scenario.name,
        place,
        name,
        estimate(qoe, top > 10 ? 2 : 3),
        `${((100 * qoe.value) / top).toFixed(2)} %`,
        estimate(stallSeconds, 2),
        estimate(startupSeconds, 2),
      ];
    });
}

function estimate(of, digits) {
  if (!of) return '-';
  const interval = of.ci95 && ` [${of.ci95.map((end) => end.toFixed(digits)).join(', ')}]`;
  return `${of.value.toFixed(digits)}${interval ?? ''}`;
}
