/** One player of the page: its video, algorithm and current figures. Plays one session at a time. */

import { MediaPlayer, type MediaPlayerClass } from 'dashjs';
import { attachLeoAbr, type Forecaster, type LeoAbrHandle } from 'leo-abr/live';
import { FREE_CHOICE, playerSettings } from '../replay/browser/page/player-settings.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { competitor, competitors } from './competitors.ts';
import { button, element, options, setText, swatch } from './dom.ts';
import { bitrate, decimal, megabits, seconds } from './format.ts';
import { icon } from './icons.ts';
import type { OriginSession } from './origin-client.ts';
import { pluginOptions } from './plugin-options.ts';
import { liveSoFar, measuredBps, SessionRecord } from './session-record.ts';
import { onPlayerEvent, SessionRecorder } from './session-recorder.ts';

export interface PlayerPanelOptions {
  /** From 0; selects colour and dashes. */
  place: number;
  algorithm: string;
  /** False for the only player. */
  isRemovable: boolean;
  /** The viewer chose another algorithm, used from the next session on. */
  onAlgorithm(): void;
  onRemove(): void;
  /** dash.js reported an error. */
  onFault(message: string): void;
}

export interface PanelSession {
  session: OriginSession;
  scenario: Scenario;
  seed: number;
  /** MPC-L's option `risk`. */
  risk: number;
  /** Forecasts of a prediction service; undefined without one. */
  service: Forecaster | undefined;
}

export class PlayerPanel {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly #options: PlayerPanelOptions;
  readonly #select: HTMLSelectElement;
  readonly #state: HTMLElement;
  readonly #fault: HTMLElement;
  readonly #about: HTMLElement;
  readonly #playButton: HTMLButtonElement;
  readonly #figures = element('dl', { class: 'figures' });
  #player: MediaPlayerClass | undefined;
  #recorder: SessionRecorder | undefined;
  #scenario: Scenario | undefined;
  #algorithm: string;
  /** The session for play(); undefined once dash.js is initialized. */
  #prepared: { manifestUrl: string; handle: LeoAbrHandle | undefined } | undefined;

  constructor(panel: PlayerPanelOptions) {
    this.#options = panel;
    this.#algorithm = panel.algorithm;
    const number = panel.place + 1;
    const heading = `player-${number}`;
    this.video = element('video', { muted: true, playsinline: true, width: 352, height: 198 });
    this.video.muted = true;
    this.#select = element(
      'select',
      { id: `${heading}-algorithm`, 'aria-label': `Algorithm of player ${number}` },
      ...options(
        competitors().map(({ name, title }) => ({ value: name, label: title })),
        panel.algorithm,
      ),
    );
    if (this.#select.value !== panel.algorithm) {
      this.#select.append(...options([{ value: panel.algorithm, label: panel.algorithm }], panel.algorithm));
    }
    this.#select.addEventListener('change', () => {
      this.#setAlgorithm(this.#select.value);
      panel.onAlgorithm();
    });
    const removal = { class: 'quiet', 'aria-label': `Remove player ${number}`, hidden: !panel.isRemovable };
    const remove = button(() => panel.onRemove(), removal, icon('cross'));
    this.#state = element('span', { class: 'state' }, 'loading');
    this.#fault = element('p', { class: 'fault', hidden: true });
    this.#about = element('p', { class: 'about' }, competitor(panel.algorithm).about);
    this.#playButton = button(() => void this.video.play(), { class: 'play', hidden: true }, 'Play');
    this.root = element(
      'article',
      { class: `player place-${panel.place}`, 'aria-label': `Player ${number}: ${competitor(panel.algorithm).title}` },
      element('header', {}, swatch(), this.#select, remove),
      element(
        'div',
        { class: 'player-body' },
        element('div', { class: 'picture' }, this.video, this.#state, this.#playButton),
        this.#figures,
        this.#about,
        this.#fault,
      ),
    );
    this.video.addEventListener('playing', () => {
      this.#playButton.hidden = true;
    });
  }

  get algorithm(): string {
    return this.#algorithm;
  }

  get title(): string {
    return competitor(this.#algorithm).title;
  }

  /** Prepares a session for play() in place of the previous one; returns its record. */
  prepare({ session, scenario, seed, risk, service }: PanelSession): SessionRecord {
    this.clear();
    this.#scenario = scenario;
    this.#fault.hidden = true;
    this.#drawFigures(figuresOf(new SessionRecord(), scenario));
    this.video.setAttribute('aria-label', `Test picture of ${this.title}; the number in it is the representation`);
    const player = MediaPlayer().create();
    player.updateSettings(playerSettings({ scenario, algorithm: this.#algorithm }));
    // The manifest of a live stream names the origin's clock; dash.js must ask no other.
    player.clearDefaultUTCTimingSources();
    // The page shows errors itself.
    player.updateSettings({ debug: { logLevel: 0 } });
    const nowSeconds = () => this.#recorder?.nowSeconds ?? 0;
    const plugin = pluginOptions(this.#algorithm, { session, seed, risk, service, nowSeconds });
    const handle = plugin === undefined ? undefined : attachLeoAbr(player, plugin);
    handle?.on('fault', ({ message }) => this.showFault(message));
    const recorder = new SessionRecorder({ player, video: this.video, scenario, handle });
    this.#recorder = recorder;
    const on = (type: string, listener: (event: unknown) => void) =>
      onPlayerEvent(player, type, (event) => {
        if (this.#recorder === recorder) listener(event);
      });
    on('streamInitialized', () => player.updateSettings(FREE_CHOICE));
    on('playbackNotAllowed', () => {
      this.#playButton.hidden = false;
    });
    on('error', (event) => this.#options.onFault(errorMessage(event)));
    this.#player = player;
    this.#prepared = { manifestUrl: `${session.url}manifest.mpd`, handle };
    return recorder.record;
  }

  /** Starts the prepared session. */
  play(): void {
    const { manifestUrl } = this.#prepared!;
    this.#prepared = undefined;
    this.#player!.initialize(this.video, manifestUrl, true);
  }

  /** Ends the session; the last picture stays. */
  stop(): void {
    this.#recorder?.stop();
    this.#player?.updateSettings({ streaming: { scheduling: { scheduleWhilePaused: false } } });
    this.video.pause();
  }

  /** Ends the session and frees its player and picture. */
  clear(): void {
    this.stop();
    this.#recorder = undefined;
    // dash.js cannot destroy a player that was not initialized.
    if (this.#prepared === undefined) this.#player?.destroy();
    else this.#prepared.handle?.detach();
    this.#prepared = undefined;
    this.#player = undefined;
  }

  /** Frees everything; the panel cannot be used again. */
  dispose(): void {
    this.clear();
    this.root.remove();
  }

  /** Updates the record; call it several times a second. */
  sample(): void {
    this.#recorder?.sample();
  }

  /** Shows the session's state and figures. */
  draw(isRunning: boolean): void {
    const record = this.#recorder?.record;
    if (record === undefined) return;
    const [text, kind] = stateOf(record, isRunning);
    setText(this.#state, text);
    this.#state.setAttribute('data-kind', kind);
    this.#drawFigures(figuresOf(record, this.#scenario!));
  }

  #drawFigures(figures: Readonly<Record<string, string>>): void {
    const names = Object.keys(figures);
    const shown = [...this.#figures.querySelectorAll('dt')].map(({ textContent }) => textContent);
    if (names.join() !== shown.join()) {
      const rows = names.map((name) => element('div', {}, element('dt', {}, name), element('dd', {})));
      this.#figures.replaceChildren(...rows);
    }
    for (const [i, dd] of this.#figures.querySelectorAll('dd').entries()) setText(dd, figures[names[i]!]!);
  }

  showFault(message: string): void {
    setText(this.#fault, message);
    this.#fault.hidden = false;
  }

  #setAlgorithm(name: string): void {
    this.#algorithm = name;
    setText(this.#about, competitor(name).about);
    this.root.setAttribute('aria-label', `Player ${this.#options.place + 1}: ${competitor(name).title}`);
  }
}

/** The figures beside the picture, by name. */
function figuresOf(record: SessionRecord, scenario: Scenario): Record<string, string> {
  const { shownBitrateBps, downloads, nowSeconds } = record;
  const screen = shownBitrateBps === undefined ? '–' : `${bitrate(shownBitrateBps)} Mbit/s`;
  if (scenario.live) {
    const { latencySecondsMean, stallsPerMinute, offRateShare } =
      (record.startupSeconds === undefined ? undefined : liveSoFar(record, scenario)) ?? {};
    return {
      'On screen': screen,
      'Mean latency': latencySecondsMean === undefined ? '–' : seconds(latencySecondsMean, 2),
      'Stalls per min': stallsPerMinute === undefined ? '–' : decimal(stallsPerMinute),
      'Off rate 1': offRateShare === undefined ? '–' : `${Math.round(100 * offRateShare)}\u00a0%`,
    };
  }
  const latest = downloads.findLast((download) => measuredBps(download, nowSeconds) !== undefined);
  const bps = latest && measuredBps(latest, nowSeconds);
  return {
    'On screen': screen,
    Measured: bps === undefined ? '–' : `${megabits(bps)} Mbit/s`,
    Buffer: seconds(record.bufferLevelSeconds),
  };
}

function stateOf(record: SessionRecord, isRunning: boolean): [text: string, kind: string] {
  if (record.endedBy === 'end') return ['finished', 'finished'];
  if (!isRunning) return ['stopped', 'finished'];
  if (record.startupSeconds === undefined) return ['starting', 'waiting'];
  if (record.isStalled) {
    return [`stalled ${seconds(record.nowSeconds - record.stalls.at(-1)!.startSeconds)}`, 'stalled'];
  }
  return ['playing', 'playing'];
}

function errorMessage(event: unknown): string {
  const { error } = event as { error?: { message?: unknown; code?: unknown } | string };
  if (typeof error === 'string') return error;
  return String(error?.message ?? error?.code ?? 'dash.js gave no reason');
}
