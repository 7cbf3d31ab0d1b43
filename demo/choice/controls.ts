/** The form at the top: what to replay, and the buttons. */

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

/** The inputs by id: what a new value chooses, and the value that shows a choice. */
const INPUTS: Readonly<
  Record<
    string,
    readonly [chosen: (value: string) => Partial<DemoChoice>, shown: (choice: DemoChoice) => string | number]
  >
> = {
  trace: [(trace) => ({ trace, startSeconds: 0 }), ({ trace }) => trace],
  scenario: [(scenario) => ({ scenario }), ({ scenario }) => scenario],
  start: [(start) => ({ startSeconds: Number(start) }), ({ startSeconds }) => startSeconds],
};

export class Controls {
  readonly #trace = byId<HTMLSelectElement>('trace');
  readonly #stop = byId<HTMLButtonElement>('stop');
  readonly #addPlayer = byId<HTMLButtonElement>('add-player');
  readonly #scenes: readonly HTMLButtonElement[];

  constructor({ onChoice, onScene, onFiles, onRestart, onStop, onAddPlayer }: ControlsOptions) {
    const scenarios = Object.values(SCENARIOS).map((one) => ({ value: one.name, label: scenarioLabel(one) }));
    byId('scenario').replaceChildren(...options(scenarios, ''));

    for (const [id, [chosen]] of Object.entries(INPUTS)) {
      const input = byId<HTMLSelectElement | HTMLInputElement>(id);
      input.addEventListener('change', () => input.reportValidity() && onChoice(chosen(input.value)));
    }
    this.#scenes = SCENES.map((scene) => button(() => onScene(scene), {}, scene.title));
    byId('scenes').replaceChildren(...this.#scenes);
    byId('controls').addEventListener('submit', (event) => event.preventDefault());
    byId('restart').addEventListener('click', onRestart);
    this.#stop.addEventListener('click', onStop);
    this.#addPlayer.addEventListener('click', onAddPlayer);

    const picker = byId<HTMLInputElement>('trace-files');
    byId('open-trace').addEventListener('click', () => picker.click());
    picker.addEventListener('change', () => {
      onFiles([...(picker.files ?? [])]);
      // Otherwise choosing the same file again, after an edit, would fire no event.
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
    const { trace, players } = choice;
    const shownScene = sceneOf(choice);
    for (const [i, scene] of SCENES.entries())
      this.#scenes[i]!.setAttribute('aria-pressed', String(scene === shownScene));
    const listed = traces.map(({ name, durationSeconds }) => ({
      value: name,
      label: `${name} (${clock(durationSeconds)})`,
    }));
    // Replacing the options would close an open list: only where they changed.
    const texts = [...this.#trace.options].map(({ text }) => text);
    if (listed.map(({ label }) => label).join() !== texts.join())
      this.#trace.replaceChildren(...options(listed, trace));
    for (const [id, [, shown]] of Object.entries(INPUTS)) byId<HTMLInputElement>(id).value = String(shown(choice));
    byId<HTMLInputElement>('start').max = String(latestStart({ traces }, trace));
    this.#addPlayer.disabled = players.length >= MAX_PLAYERS;
  }

  set canStop(can: boolean) {
    this.#stop.disabled = !can;
  }

  focusAddPlayer(): void {
    this.#addPlayer.focus();
  }
}

function scenarioLabel({ name, ladderBps, bufferCapSeconds, live }: Scenario): string {
  const delay = live ? `${live.targetLatencySeconds} s behind` : `buffer ${bufferCapSeconds} s`;
  return `${name}: ${bitrate(ladderBps.at(-1)!)} Mbit/s, ${delay}`;
}
