/** `npm run moments`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const SCENES = fileURLToPath(new URL('../demo/scenes.json', import.meta.url));
const { values, refuse } = commandLine(
  `usage: npm run moments -- [--scene live] [--links 1000] [--first 1] [--typical]

Searches synthetic links, by their seeds, for the moment that the scene shows (demo/README.md has the criterion), and
prints what it finds, the most robust first. --typical plays all starts of the scene's shipped link instead, and writes
the table to demo/scenes.json.`,
  {
    options: {
      scene: { type: 'string', default: 'live' },
      links: { type: 'string', default: '1000' },
      first: { type: 'string', default: '1' },
      typical: { type: 'boolean', default: false },
    },
  },
);
const { MOMENT_RULES, searchLink, synthesizeShippedTraces, synthesizeTrace, typicalOf } = await bundledSources(
  'replay/simulator/moment-search.ts',
);
const rules = MOMENT_RULES[values.scene];
if (rules === undefined)
  refuse(`--scene: expected one of ${Object.keys(MOMENT_RULES).join(', ')}, got ${values.scene}`);
const [links, first] = ['links', 'first'].map((name) => {
  const value = Number(values[name]);
  if (!(Number.isInteger(value) && value > 0))
    refuse(`--${name}: expected a whole number above 0, got ${values[name]}`);
  return value;
});

if (values.typical) {
  const scenes = JSON.parse(readFileSync(SCENES, 'utf8'));
  const scene = scenes.find(({ name }) => name === values.scene);
  const trace = synthesizeShippedTraces().find(({ name }) => name === scene.trace);
  scene.typical = typicalOf(trace, { ...rules, watchedSeconds: scene.watchedSeconds });
  writeFileSync(SCENES, `${JSON.stringify(scenes, null, 2)}\n`);
  console.table(scene.typical.rows);
} else {
  let [starts, dips] = [0, 0];
  const found = [];
  for (let seed = first; seed < first + links; seed++) {
    const searched = searchLink(synthesizeTrace({ ...rules.link, seed }), rules);
    starts += searched.starts;
    dips += searched.dips;
    for (const one of searched.found) {
      found.push({ seed, ...one });
      const { startSeconds, moment, robustShare, qoeLead } = one;
      const { lostSeconds, slowed } = moment;
      console.error(
        `seed ${seed}, start ${startSeconds}: ${JSON.stringify({ lostSeconds, slowed, robustShare, qoeLead })}`,
      );
    }
  }
  const ofLinks = new Set(found.map(({ seed }) => seed)).size;
  console.log(
    `${links} links, ${starts} starts: the rule stalls in the dip at ${dips}; the moment at ${found.length}, on ${ofLinks} links`,
  );
  found.sort((a, b) => b.robustShare - a.robustShare || b.moment.lostSeconds - a.moment.lostSeconds);
  console.table(
    found.slice(0, 20).map(({ seed, startSeconds, moment, robustShare, qoeLead, withoutHandoversSeconds }) => ({
      seed,
      start: startSeconds,
      'handover at': Math.round(moment.handover.atSeconds * 10) / 10,
      confidence: Math.round(100 * moment.handover.confidence) / 100,
      'slowed to': moment.slowed?.rate,
      'lowered to': moment.lowered && moment.lowered.toBps / 1e6,
      'rule stalls': Math.round(100 * moment.lostSeconds) / 100,
      'without handovers': Math.round(100 * withoutHandoversSeconds) / 100,
      'QoE lead': Math.round(10 * qoeLead) / 10,
      robust: robustShare,
    })),
  );
}
