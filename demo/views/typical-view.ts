/** Says that a scene was chosen, and what is typical of its link: all starts of it, in the simulator. */

import type { TypicalRow } from '../../replay/simulator/moment-search.ts';
import { sceneOf } from '../choice/choice.ts';
import { competitor } from '../choice/competitors.ts';
import type { Scene } from '../choice/scenes.ts';
import { byId, element, setText } from '../dom.ts';
import { decimal, megabits, percent, seconds } from '../format.ts';
import type { DemoRun } from '../run/run.ts';

const COLUMNS: readonly [title: string, text: (row: TypicalRow) => string][] = [
  ['QoE', ({ qoe }) => decimal(qoe)],
  ['Bitrate', ({ mbps }) => `${megabits(mbps * 1e6)} Mbit/s`],
  [
    'Stands still, per minute',
    ({ stallsPerMinute: n, stallSecondsPerMinute: s }) => `${decimal(n)}\u202f×, ${seconds(s, 2)}`,
  ],
  ['Handovers with a stall', ({ stalledHandoverShare }) => percent(stalledHandoverShare)],
];

/** Shows the notes on the run's scene; nothing for a run of the viewer's own choice. */
export function drawTypical(run: DemoRun): void {
  const scene = sceneOf({ ...run, trace: run.trace.name, scenario: run.scenario.name });
  byId('typical').hidden = scene === undefined;
  byId('chosen').hidden = scene === undefined;
  if (scene === undefined) return;
  setText(byId('chosen-text'), chosenText(scene));
  const { starts, seconds: length, rows } = scene.typical;
  setText(byId('typical-about'), `Simulated: ${length} s from each of ${starts} starts of the link.`);
  const head = ['Player', ...COLUMNS.map(([title]) => title)].map((text) => element('th', { scope: 'col' }, text));
  byId('typical-rows').replaceChildren(
    element('thead', {}, element('tr', {}, ...head)),
    element(
      'tbody',
      {},
      ...rows.map((row) => {
        const cells = COLUMNS.map(([, text]) => element('td', {}, text(row)));
        return element('tr', {}, element('th', { scope: 'row' }, competitor(row.algorithm).title), ...cells);
      }),
    ),
  );
}

function chosenText({ shows, watchedSeconds, searched: { links, starts, moments }, typical: { rows } }: Scene): string {
  const [rule, own] = rows.slice(0, 2).map((row) => {
    return { title: competitor(row.algorithm).title, still: COLUMNS[2]![1](row) };
  });
  const all = `${starts.toLocaleString('en')} starts on ${links} made-up links`;
  const typical = `Typical here, per minute: ${rule!.title} stands still ${rule!.still}; ${own!.title} ${own!.still}.`;
  if (shows === 'abandonment')
    return `Chosen: what helps on demand is to give up a late download (${moments} of ${all} have a handover). ${typical}`;
  const hint = `if MPC-L has seen the link for ${watchedSeconds} s before`;
  return `Chosen: ${moments} of ${all} have such a moment, ${hint}. ${typical}`;
}
