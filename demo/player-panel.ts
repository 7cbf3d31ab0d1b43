/** One player of the page: a picture, its algorithm, and how it is doing. Plays one session at a time. */

import { MediaPlayer, type MediaPlayerClass } from 'dashjs';
import { attachLeoAbr, type Forecaster, type LeoAbrHandle } from 'leo-abr';
import { FREE_CHOICE, playerSettings } from '../replay/browser/page/player-settings.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { competitor, competitors } from './competitors.ts';
import { element, options, setText } from './dom.ts';
import { bitrate, megabits, seconds } from './format.ts';
import { icon } from './icons.ts';
import type { OriginSession } from './origin-client.ts';
import { pluginOptions } from './plugin-options.ts';
import { measuredBps, type SessionRecord } from './session-record.ts';
import { SessionRecorder } from './session-recorder.ts';

export interface PlayerPanelOptions {
  /** Counts the players from 0: its colour and its dashes. */
  place: number;
  algorithm: string;
  /** There are others. */
  isRemovable: boolean;
  /** The viewer chose another algorithm: from the next session on. */
  onAlgorithm(): void;
  onRemove(): void;
  /** dash.js or the plugin gave up on something. */
  onFault(message: string): void;
  /** The session is over. */
  onEnded(): void;
}

export interface PanelSession {
  session: OriginSession;
  scenario: Scenario;
  seed: number;
  /** Of MPC-L. */
  risk: number;
  /** Forecasts of a prediction service for this player; undefined where there is none. */
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
  readonly #figures: Record<'screen' | 'measured' | 'buffer', HTMLElement>;
  #player: MediaPlayerClass | undefined;
  #recorder: SessionRecorder | undefined;
  #algorithm: string;
  /** What play() takes; undefined where the player has been initialized. */
  #readied: { manifestUrl: string; handle: LeoAbrHandle | undefined } | undefined;

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
    const remove = element(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Remove player ${number}`, hidden: !panel.isRemovable },
      icon('cross'),
    );
    remove.addEventListener('click', () => panel.onRemove());
    this.#state = element('span', { class: 'state' }, 'loading');
    this.#fault = element('p', { class: 'fault', hidden: true });
    this.#about = element('p', { class: 'about' }, competitor(panel.algorithm).about);
    this.#playButton = element('button', { type: 'button', class: 'play', hidden: true }, 'Play');
    this.#playButton.addEventListener('click', () => void this.video.play());
    const figure = () => element('dd', {}, '–');
    this.#figures = { screen: figure(), measured: figure(), buffer: figure() };
    this.root = element(
      'article',
      { class: `player place-${panel.place}`, 'aria-label': `Player ${number}: ${competitor(panel.algorithm).title}` },
      element('header', {}, element('span', { class: 'swatch', 'aria-hidden': 'true' }), this.#select, remove),
      element(
        'div',
        { class: 'player-body' },
        element('div', { class: 'picture' }, this.video, this.#state, this.#playButton),
        element(
          'dl',
          { class: 'figures' },
          element('div', {}, element('dt', {}, 'On screen'), this.#figures.screen),
          element('div', {}, element('dt', {}, 'Measured'), this.#figures.measured),
          element('div', {}, element('dt', {}, 'Buffer'), this.#figures.buffer),
        ),
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

  /** Readies a session, in place of the one before, for play(); gives what will be written down of it. */
  prepare({ session, scenario, seed, risk, service }: PanelSession): SessionRecord {
    this.clear();
    this.#fault.hidden = true;
    this.video.setAttribute('aria-label', `Test picture of ${this.title}; the number in it is the representation`);
    const player = MediaPlayer().create();
    const settings = playerSettings({
      sessionUrl: session.url,
      algorithm: this.#algorithm,
      seed,
      scenario,
      segmentCount: scenario.segmentCount,
      cutoffSeconds: Number.POSITIVE_INFINITY,
    });
    player.updateSettings(settings as Parameters<typeof player.updateSettings>[0]);
    // The page tells of errors itself.
    player.updateSettings({ debug: { logLevel: 0 } });
    const plugin = pluginOptions(this.#algorithm, {
      session,
      seed,
      risk,
      service,
      nowSeconds: () => this.#recorder?.nowSeconds ?? 0,
    });
    const handle = plugin === undefined ? undefined : attachLeoAbr(player, plugin);
    handle?.on('fault', ({ message }) => this.showFault(message));
    const recorder = new SessionRecorder({
      player,
      video: this.video,
      segmentSeconds: scenario.segmentSeconds,
      handle,
    });
    this.#recorder = recorder;
    const on = (type: string, listener: (event: unknown) => void) =>
      // dash.js's types know the names of some events only.
      (player as unknown as { on(type: string, listener: (event: unknown) => void): void }).on(type, (event) => {
        if (this.#recorder === recorder) listener(event);
      });
    on('streamInitialized', () => {
      player.updateSettings(FREE_CHOICE as Parameters<typeof player.updateSettings>[0]);
    });
    on('playbackNotAllowed', () => {
      this.#playButton.hidden = false;
    });
    on('playbackEnded', () => this.#options.onEnded());
    on('error', (event) => this.#options.onFault(errorMessage(event)));
    this.#player = player;
    this.#readied = { manifestUrl: `${session.url}manifest.mpd`, handle };
    return recorder.record;
  }

  /** Starts the session that was readied. */
  play(): void {
    const { manifestUrl } = this.#readied!;
    this.#readied = undefined;
    this.#player!.initialize(this.video, manifestUrl, true);
  }

  /** Ends the session where it is; the last picture stays. */
  stop(): void {
    this.#recorder?.stop();
    this.#player?.updateSettings({ streaming: { scheduling: { scheduleWhilePaused: false } } });
    this.video.pause();
  }

  /** Frees what the session held, and its picture; there is none until the next. */
  clear(): void {
    this.stop();
    this.#recorder = undefined;
    // dash.js throws where it shall destroy what has not been initialized.
    if (this.#readied === undefined) this.#player?.destroy();
    else this.#readied.handle?.detach();
    this.#readied = undefined;
    this.#player = undefined;
  }

  /** Frees everything; the panel is not used again. */
  dispose(): void {
    this.clear();
    this.root.remove();
  }

  /** Takes in what happened since the last call. */
  sample(): void {
    this.#recorder?.sample();
  }

  /** Shows how the session stands. */
  draw(isRunning: boolean): void {
    const record = this.#recorder?.record;
    if (record === undefined) return;
    const [text, kind] = stateOf(record, isRunning);
    setText(this.#state, text);
    this.#state.setAttribute('data-kind', kind);
    const { screen, measured, buffer } = this.#figures;
    setText(screen, record.shownBitrateBps === undefined ? '–' : `${bitrate(record.shownBitrateBps)} Mbit/s`);
    const latest = record.downloads.findLast((download) => measuredBps(download, record.nowSeconds) !== undefined);
    const bps = latest && measuredBps(latest, record.nowSeconds);
    setText(measured, bps === undefined ? '–' : `${megabits(bps)} Mbit/s`);
    setText(buffer, seconds(record.bufferLevelSeconds));
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

function stateOf(record: SessionRecord, isRunning: boolean): [text: string, kind: string] {
  if (record.endedBy === 'end') return ['finished', 'finished'];
  if (!isRunning) return ['stopped', 'finished'];
  if (record.startupSeconds === undefined) return ['starting', 'waiting'];
  const stall = record.stalls.at(-1);
  if (record.isStalled) return [`stalled ${seconds(record.nowSeconds - stall!.startSeconds)}`, 'stalled'];
  return ['playing', 'playing'];
}

function errorMessage(event: unknown): string {
  const { error } = event as { error?: { message?: unknown; code?: unknown } | string };
  if (typeof error === 'string') return error;
  return String(error?.message ?? error?.code ?? 'the player gave up');
}
