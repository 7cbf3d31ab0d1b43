/** `npm run moments`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const SCENES = fileURLToPath(new URL('../demo/choice/scenes.json', import.meta.url));
const TEXT = { type: 'string' };
const { values, refuse } = commandLine(
  `usage: npm run moments -- [--scene live] [--links 1000] [--first 1] [--typical]

Searches synthetic links, by their seeds, for the moment that the scene shows (demo/README.md has the criterion), and
prints what it finds, the most robust first. --typical plays all starts of the scene's shipped link instead, and writes
the table to demo/choice/scenes.json.`,
  { options: { scene: TEXT, links: TEXT, first: TEXT, typical: { type: 'boolean' } } },
);
const { scene: sceneName = 'live' } = values;
const { MOMENT_RULES, searchLink, synthesizeShippedTraces, synthesizeTrace, typicalOf } = await bundledSources(
  'replay/simulator/moment-search.ts',
);
const rules = MOMENT_RULES[sceneName];
if (rules === undefined) refuse(`--scene: expected one of ${Object.keys(MOMENT_RULES).join(', ')}, got ${sceneName}`);
const [links, first] = Object.entries({ links: '1000', first: '1' }).map(([name, otherwise]) => {
  const { [name]: value = otherwise } = values;
  if (!/^[1-9]\d*$/.test(value)) refuse(`--${name}: expected a whole number above 0, got ${value}`);
  return Number(value);
});

if (values.typical) {
  const scenes = JSON.parse(readFileSync(SCENES, 'utf8'));
  const scene = scenes.find(({ name }) => name === sceneName);
  const trace = synthesizeShippedTraces().find(({ name }) => name === scene.trace);
  scene.typical = typicalOf(trace, { ...rules, watchedSeconds: scene.watchedSeconds, risk: scene.risk });
  writeFileSync(SCENES, `${JSON.stringify(scenes, null, 2)}\n`);
  console.table(scene.typical.rows);
} else {
  let [starts, dips] = [0, 0];
  const found = [];
  for (let seed = first; seed < first + links; seed++) {
    const searched = searchLink(synthesizeTrace({ ...rules.link, seed }), rules);
    starts += searched.starts;
    dips += searched.dips;
    for (const { startSeconds, moment, qoeLead, withoutHandoversSeconds, robustShare: robust } of searched.found) {
      const { handover, slowed, lowered, lostSeconds } = moment;
      const hundredths = (value) => Math.round(100 * value) / 100;
      const row = {
        ...{ seed, start: startSeconds, 'handover at': hundredths(handover.atSeconds) },
        ...{ confidence: hundredths(handover.confidence), 'slowed to': slowed?.rate },
        ...{ 'lowered to': lowered && lowered.toBps / 1e6, 'rule stalls': hundredths(lostSeconds) },
        ...{ 'without handovers': hundredths(withoutHandoversSeconds), 'QoE lead': hundredths(qoeLead), robust },
      };
      found.push(row);
      console.error(JSON.stringify(row));
    }
  }
  const ofLinks = new Set(found.map(({ seed }) => seed)).size;
  console.log(
    `${links} links, ${starts} starts: the rule stalls in the dip at ${dips}; the moment at ${found.length}, on ${ofLinks} links`,
  );
  found.sort((a, b) => b.robust - a.robust || b['rule stalls'] - a['rule stalls']);
  console.table(found.slice(0, 20));
}
