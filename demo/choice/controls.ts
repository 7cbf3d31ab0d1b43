/** The form at the top of the page: what to replay, and the buttons. */

import { SCENARIOS, type Scenario } from '../../replay/scenarios.ts';
import { button, byId, options } from '../dom.ts';
import { bitrate, clock } from '../format.ts';
import type { TraceListing } from '../origin/origin-client.ts';
import { type DemoChoice, latestStart, MAX_PLAYERS, sceneOf } from './choice.ts';
import { SCENES, type Scene } from './scenes.ts';

export interface ControlsOptions {
  onChoice(change: Partial<DemoChoice>): void;
  onScene(scene: Scene): void;
  onFiles(files: readonly File[]): void;
  onRestart(): void;
  onStop(): void;
  onAddPlayer(): void;
}

/** The inputs by id, with the choice that a new value makes. */
const INPUTS: Readonly<Record<string, (value: string) => Partial<DemoChoice>>> = {
  trace: (trace) => ({ trace, startSeconds: 0 }),
  scenario: (scenario) => ({ scenario }),
  start: (start) => ({ startSeconds: Number(start) }),
};

export class Controls {
  private readonly _trace = byId<HTMLSelectElement>('trace');
  readonly stop = byId<HTMLButtonElement>('stop');
  readonly addPlayer = byId<HTMLButtonElement>('add-player');
  private readonly _scenes: readonly HTMLButtonElement[];

  constructor({ onChoice, onScene, onFiles, onRestart, onStop, onAddPlayer }: ControlsOptions) {
    const scenarios = Object.values(SCENARIOS).map((one) => ({ value: one.name, label: scenarioLabel(one) }));
    byId('scenario').replaceChildren(...options(scenarios, ''));

    for (const [id, chosen] of Object.entries(INPUTS)) {
      const input = byId<HTMLSelectElement | HTMLInputElement>(id);
      input.addEventListener('change', () => input.reportValidity() && onChoice(chosen(input.value)));
    }
    this._scenes = SCENES.map((scene) => button(() => onScene(scene), {}, scene.title));
    byId('scenes').replaceChildren(...this._scenes);
    byId('controls').addEventListener('submit', (event) => event.preventDefault());
    byId('restart').addEventListener('click', onRestart);
    this.stop.addEventListener('click', onStop);
    this.addPlayer.addEventListener('click', onAddPlayer);

    const picker = byId<HTMLInputElement>('trace-files');
    byId('open-trace').addEventListener('click', () => picker.click());
    picker.addEventListener('change', () => {
      onFiles([...(picker.files ?? [])]);
      // Without this, a second choice of the same file would fire no event.
      picker.value = '';
    });
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
      event.preventDefault();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) onFiles(files);
    });
  }

  show(choice: DemoChoice, traces: readonly TraceListing[]): void {
    const { trace, scenario, startSeconds, players } = choice;
    const shownScene = sceneOf(choice);
    for (const [i, scene] of SCENES.entries())
      this._scenes[i]!.setAttribute('aria-pressed', String(scene === shownScene));
    const listed = traces.map(({ name, durationSeconds }) => ({
      value: name,
      label: `${name} (${clock(durationSeconds)})`,
    }));
    // The options are replaced only if they changed, because that closes an open list.
    const texts = [...this._trace.options].map(({ text }) => text);
    if (listed.map(({ label }) => label).join() !== texts.join())
      this._trace.replaceChildren(...options(listed, trace));
    for (const [id, value] of Object.entries({ trace, scenario, start: startSeconds })) {
      byId<HTMLInputElement>(id).value = String(value);
    }
    byId<HTMLInputElement>('start').max = String(latestStart({ traces }, trace));
    this.addPlayer.disabled = players.length >= MAX_PLAYERS;
  }
}

function scenarioLabel({ name, ladderBps, bufferCapSeconds, live }: Scenario): string {
  const delay = live ? `${live.targetLatencySeconds} s behind` : `buffer ${bufferCapSeconds} s`;
  return `${name}: ${bitrate(ladderBps.at(-1)!)} Mbit/s, ${delay}`;
}
