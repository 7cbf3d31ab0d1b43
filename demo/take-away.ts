/** Exports a run: its sessions as the benchmark's results JSON, its timeline as a PNG. */

import { assembleResults, resultsJson } from '../replay/evaluation/assemble-results.ts';
import { splitPlayer } from '../replay/forecasters.ts';
import { resolveScenario } from '../replay/scenario-file.ts';
import { roundedSession } from '../replay/simulator/session-result.ts';
import { DEFAULT_RISK } from './choice.ts';
import { element } from './dom.ts';
import { clock, decimal } from './format.ts';
import { isTunable } from './plugin-options.ts';
import { nowSecondsOf, type Run } from './run.ts';
import type { RunViews } from './run-views.ts';
import { sessionResult } from './session-record.ts';
import { GRID_SECONDS } from './timeline-model.ts';

declare const __LEO_ABR_VERSION__: string;

/** The sessions so far in the schema of the benchmark's results. */
export function saveResults(run: Run): void {
  const { trace, scenario, startSeconds, seed, players } = run;
  const sessions = players.map(({ record, algorithm }) => {
    const about = { trace: trace.name, dataset: trace.dataset, group: trace.recordingGroup, startSeconds, seed };
    return sessionResult(record, { ...about, algorithm: nameOf(algorithm, run), scenario });
  });
  const seat = { name: 'demo', algorithm: sessions.map(({ algorithm }) => algorithm).join(), joinSeconds: 0 };
  const linkUtilisation = utilisationOf(run);
  const seated = sessions.map((session, player) =>
    roundedSession(run.link === 'own' ? session : { ...session, household: { ...seat, player, linkUtilisation } }),
  );
  const algorithms = [...new Set(sessions.map(({ algorithm }) => algorithm))];
  const baseline = algorithms.includes('mpc-d') ? 'mpc-d' : algorithms[0]!;
  const tool = { name: 'leo-abr', version: __LEO_ABR_VERSION__, command: 'demo', commit: null, seed, baseline };
  const json = resultsJson(
    assembleResults({ tool, scenario: resolveScenario(scenario), sessions: seated, algorithms }),
  );
  download(new Blob([json], { type: 'application/json' }), `${fileName(run)}.json`);
}

/** The bits that all players received / the link's bits, until the last of them. */
function utilisationOf({ players, timeline }: Run): number {
  const downloads = players.flatMap(({ record: { downloads: all, nowSeconds } }) =>
    all.map(({ receivedBits, endedAtSeconds }) => ({ receivedBits, endSeconds: endedAtSeconds ?? nowSeconds })),
  );
  const end = timeline.indexAt(Math.max(0, ...downloads.map(({ endSeconds }) => endSeconds)));
  const linkBits = timeline.capacityBps.slice(0, end + 1).reduce((sum, bps) => sum + bps * GRID_SECONDS, 0);
  return downloads.reduce((sum, { receivedBits }) => sum + receivedBits, 0) / linkBits;
}

/** The name in the results: not the benchmark's if the algorithm had another risk or a service. */
function nameOf(algorithm: string, { risk, service }: Run): string {
  if (!isTunable(algorithm)) return algorithm;
  const { name, player } = splitPlayer(algorithm);
  const inPlayer = player === undefined ? '' : `@${player}`;
  return `${name}${risk === DEFAULT_RISK ? '' : `:risk-${risk}`}${service === '' ? '' : '@service'}${inPlayer}`;
}

/** Saves the timeline as it is drawn, with a title and a legend. */
export async function savePicture(run: Run, views: RunViews): Promise<void> {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const picture = await pictureOf({
    title: `${run.trace.name} from ${run.startSeconds} s, ${run.scenario.name}`,
    subtitle: `leo-abr, ${clock(nowSecondsOf(run))} played${run.link === 'shared' ? '; one link for all' : ''}${run.timeline.hasClock ? '; dashed: handovers' : ''}`,
    lanes: views.timeline.canvases(),
    players: run.players.map(({ title, place }) => {
      const qoe = views.qoeOf(place);
      return { title, colour: colour(`player-${place}`), note: qoe === undefined ? '' : `QoE ${decimal(qoe)}` };
    }),
    colours: { background: colour('panel'), text: colour('text'), soft: colour('text-soft') },
  });
  download(picture, `${fileName(run)}.png`);
}

function fileName({ trace, scenario, startSeconds }: Run): string {
  return `leo-abr-${trace.name}-${startSeconds}-${scenario.name}`.replaceAll(/[^\w.-]/g, '_');
}

interface PictureOptions {
  title: string;
  subtitle: string;
  lanes: readonly { canvas: HTMLCanvasElement; title: string }[];
  players: readonly { title: string; colour: string; note: string }[];
  colours: { background: string; text: string; soft: string };
}

/** The lanes one below the other, with a title and a legend, as a PNG. */
async function pictureOf({ title, subtitle, lanes, players, colours }: PictureOptions): Promise<Blob> {
  const ratio = devicePixelRatio;
  const width = Math.max(...lanes.map(({ canvas }) => canvas.width));
  const line = 20 * ratio;
  const margin = 12 * ratio;
  const head = margin + 2 * line + players.length * line + margin / 2;
  const height = head + lanes.reduce((sum, { canvas }) => sum + line + canvas.height, 0) + margin;
  const sheet = element('canvas', { width: width + 2 * margin, height });
  const context = sheet.getContext('2d')!;
  context.fillStyle = colours.background;
  context.fillRect(0, 0, sheet.width, sheet.height);
  context.textBaseline = 'middle';
  let y = margin + line / 2;
  const write = (text: string, { x = margin, size = 13, weight = 400, colour = colours.text } = {}) => {
    context.font = `${weight} ${size * ratio}px system-ui, sans-serif`;
    context.fillStyle = colour;
    context.fillText(text, x, y);
  };
  write(title, { size: 16, weight: 600 });
  y += line;
  write(subtitle, { colour: colours.soft });
  for (const player of players) {
    y += line;
    context.fillStyle = player.colour;
    context.fillRect(margin, y - 2 * ratio, 22 * ratio, 4 * ratio);
    write(`${player.title}: ${player.note}`, { x: margin + 30 * ratio });
  }
  y = head;
  for (const lane of lanes) {
    y += line / 2;
    write(lane.title, { size: 12, colour: colours.soft });
    y += line / 2;
    context.drawImage(lane.canvas, margin, y);
    y += lane.canvas.height;
  }
  return new Promise((resolve, reject) => {
    sheet.toBlob((blob) => (blob === null ? reject(new Error('the picture could not be encoded')) : resolve(blob)));
  });
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
