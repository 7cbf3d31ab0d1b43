/** The form at the top: what to replay, and the buttons. */

import { SCENARIOS, type Scenario } from '../replay/scenarios.ts';
import { type Choice, latestStart, MAX_PLAYERS } from './choice.ts';
import { byId, options, setText } from './dom.ts';
import { bitrate, clock } from './format.ts';
import type { TraceListing } from './origin-client.ts';
import { LINK_SERVICE, parseService } from './service-status.ts';

/** The choice of a service by address. */
const ADDRESS = 'address';

export interface ControlsOptions {
  /** Why no service can be started on the replayed link; undefined if one can. */
  noLinkService: string | undefined;
  onChoice(change: Partial<Choice>): void;
  /** The viewer opened or dropped files. */
  onFiles(files: readonly File[]): void;
  onRestart(): void;
  onStop(): void;
  onAddPlayer(): void;
}

export class Controls {
  readonly #trace = byId<HTMLSelectElement>('trace');
  readonly #start = byId<HTMLInputElement>('start');
  readonly #scenario = byId<HTMLSelectElement>('scenario');
  readonly #sharing = byId<HTMLSelectElement>('sharing');
  readonly #linkNote = byId('link-note');
  readonly #risk = byId<HTMLInputElement>('risk');
  readonly #service = byId<HTMLSelectElement>('service');
  readonly #address = byId<HTMLInputElement>('service-address');
  readonly #stop = byId<HTMLButtonElement>('stop');
  readonly #addPlayer = byId<HTMLButtonElement>('add-player');

  constructor({ noLinkService, onChoice, onFiles, onRestart, onStop, onAddPlayer }: ControlsOptions) {
    const scenarios = Object.values(SCENARIOS).map((one) => ({ value: one.name, label: scenarioLabel(one) }));
    this.#scenario.replaceChildren(...options(scenarios, ''));
    byId('controls').addEventListener('submit', (event) => event.preventDefault());
    this.#trace.addEventListener('change', () => onChoice({ trace: this.#trace.value, startSeconds: 0 }));
    this.#scenario.addEventListener('change', () => onChoice({ scenario: this.#scenario.value }));
    this.#start.addEventListener('change', () => {
      if (this.#start.value !== '' && this.#start.reportValidity())
        onChoice({ startSeconds: Number(this.#start.value) });
    });
    this.#sharing.addEventListener('change', () => onChoice({ link: this.#sharing.value as Choice['link'] }));
    this.#risk.addEventListener('change', () => {
      if (this.#risk.value !== '' && this.#risk.reportValidity()) onChoice({ risk: Number(this.#risk.value) });
    });
    byId<HTMLOptionElement>('service-of-link').disabled = noLinkService !== undefined;
    setText(byId('no-link-service'), noLinkService ?? '');
    this.#service.addEventListener('change', () => {
      this.#address.hidden = this.#service.value !== ADDRESS;
      if (this.#address.hidden) onChoice({ service: this.#service.value });
      else this.#address.focus();
    });
    this.#address.addEventListener('input', () => this.#showAddressProblem(''));
    this.#address.addEventListener('change', () => {
      try {
        onChoice({ service: parseService(this.#address.value) });
      } catch (error) {
        this.#showAddressProblem((error as Error).message);
        this.#address.reportValidity();
      }
    });
    const settings = byId('settings');
    settings.addEventListener('click', () => {
      const isOpen = byId('controls').classList.toggle('open');
      settings.setAttribute('aria-expanded', String(isOpen));
    });
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

  show(choice: Choice, traces: readonly TraceListing[]): void {
    const listed = traces.map(({ name, durationSeconds }) => ({
      value: name,
      label: `${name} (${clock(durationSeconds)})`,
    }));
    // Replacing the options would close an open list: only where they changed.
    const shown = [...this.#trace.options].map(({ text }) => text);
    if (listed.map(({ label }) => label).join() !== shown.join()) {
      this.#trace.replaceChildren(...options(listed, choice.trace));
    }
    this.#trace.value = choice.trace;
    this.#scenario.value = choice.scenario;
    this.#start.value = String(choice.startSeconds);
    this.#start.max = String(latestStart({ traces }, choice.trace));
    this.#sharing.value = choice.link;
    const note = choice.link === 'shared' ? 'All players share one' : 'Each player streams over its own copy of one';
    setText(this.#linkNote, `${note} replayed satellite link, on one clock.`);
    this.#risk.value = String(choice.risk);
    const isAddress = choice.service !== '' && choice.service !== LINK_SERVICE;
    this.#service.value = isAddress ? ADDRESS : choice.service;
    this.#address.hidden = !isAddress;
    if (isAddress) this.#address.value = choice.service;
    this.#showAddressProblem('');
    this.#addPlayer.disabled = choice.players.length >= MAX_PLAYERS;
  }

  /** Shows what is wrong with the service's address; empty for nothing. */
  #showAddressProblem(problem: string): void {
    this.#address.setCustomValidity(problem);
    this.#address.setAttribute('aria-invalid', String(problem !== ''));
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
