/** Takes a run out of the page: its sessions as the benchmark's results JSON, its timeline as a picture. */

import { assembleResults, resultsJson } from '../replay/evaluation/assemble-results.ts';
import type { SessionResult } from '../replay/results.ts';
import { resolveScenario } from '../replay/scenario-file.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { roundedSession } from '../replay/simulator/session-result.ts';
import { element } from './dom.ts';

declare const __LEO_ABR_VERSION__: string;

/** The results document of DESIGN's schema; of the media that have come so far. */
export function resultsOf(sessions: readonly SessionResult[], scenario: Scenario, seed: number): string {
  const baseline = sessions.some(({ algorithm }) => algorithm === 'mpc-d') ? 'mpc-d' : (sessions[0]?.algorithm ?? '');
  return resultsJson(
    assembleResults({
      tool: { name: 'leo-abr', version: __LEO_ABR_VERSION__, command: 'demo', commit: null, seed, baseline },
      scenario: resolveScenario(scenario),
      sessions: sessions.map(roundedSession),
      algorithms: [...new Set(sessions.map(({ algorithm }) => algorithm))],
    }),
  );
}

export interface PictureOptions {
  title: string;
  subtitle: string;
  lanes: readonly { canvas: HTMLCanvasElement; title: string }[];
  players: readonly { title: string; colour: string; note: string }[];
  colours: { background: string; text: string; soft: string };
}

/** The lanes one below the other, with a title and a legend, as a PNG. */
export async function pictureOf({ title, subtitle, lanes, players, colours }: PictureOptions): Promise<Blob> {
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

/** Hands a file to the viewer. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
