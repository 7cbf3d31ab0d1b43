/** One player of the page: its video, algorithm and current figures. Plays one session at a time. */

import type { Forecaster } from 'leo-abr';
import type { ServiceForecaster } from 'leo-abr/service';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import type { PlayerContext, TestPlayer } from '../../replay/browser/page/test-player.ts';
import { PLAYERS, type PlayerName, splitPlayer } from '../../replay/forecasters.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { competitor, competitors, inOtherPlayer, PLAYER_TITLES, playerOf } from '../choice/competitors.ts';
import { button, element, options, select, setText, swatch } from '../dom.ts';
import { bitrate, decimal, megabits, seconds } from '../format.ts';
import type { OriginSession } from '../origin/origin-client.ts';
import { linearSoFar, liveSoFar, qoeSoFar, SessionRecord } from '../run/session-record.ts';
import { LaneForecasts, withoutSource } from './lane-forecasts.ts';
import { pluginOptions } from './plugin-options.ts';
import { SessionRecorder } from './session-recorder.ts';

export interface PlayerPanelOptions {
  /** From 0; selects colour and dashes. */
  place: number;
  algorithm: string;
  isRemovable: boolean;
  /** Why no prediction service can be started; undefined if one can. */
  serviceProblem: string | undefined;
  /** The viewer chose another algorithm or player, used from the next session on. */
  onAlgorithm(): void;
  onRemove(): void;
  onFault(message: string): void;
}

export interface PanelSession {
  newPlayer: (context: PlayerContext) => TestPlayer;
  session: OriginSession;
  scenario: Scenario;
  risk: number;
  forecaster: Forecaster | undefined;
  watchedSeconds: number;
}

const LIVE_LIMITS: Readonly<Record<PlayerName, string>> = {
  dash: '',
  hls: ' hls.js never jumps to the live edge here.',
  shaka: ' Shaka joins at a latency of its own, and never jumps to the live edge here.',
};

export class PlayerPanel {
  readonly root: HTMLElement;
  readonly #options: PlayerPanelOptions;
  readonly #video = element('video', { muted: true, playsinline: true, width: 352, height: 198 });
  readonly #algorithmChoice: HTMLSelectElement;
  readonly #state = element('span', { class: 'state' }, 'loading');
  readonly #lead = element('strong', { class: 'lead', hidden: true });
  readonly #fault = element('p', { class: 'fault', hidden: true });
  readonly #about = element('p', {});
  readonly #playButton = button(() => void this.#video.play(), { class: 'play', hidden: true }, 'Play');
  readonly #figures = element('dl', { class: 'figures' });
  readonly #forecasts: LaneForecasts;
  #link: PiecewisePath | undefined;
  #player: TestPlayer | undefined;
  #recorder: SessionRecorder | undefined;
  #session: PanelSession | undefined;
  #algorithm: string;
  /** Resolves when the previous player has left the picture. */
  #freed: Promise<unknown> = Promise.resolve();

  constructor(panel: PlayerPanelOptions) {
    this.#options = panel;
    this.#algorithm = panel.algorithm;
    const number = panel.place + 1;
    this.#video.muted = true;
    this.#video.addEventListener('playing', () => {
      this.#playButton.hidden = true;
    });
    this.#algorithmChoice = select({ 'aria-label': `Algorithm of player ${number}` }, (name) => this.#choose(name));
    const library = select(
      { class: 'library', 'aria-label': `Library of player ${number}`, title: 'The library that plays' },
      (player) => this.#choose(inOtherPlayer(this.#algorithm, player as PlayerName)),
    );
    const libraries = PLAYERS.map((name) => ({ value: name, label: PLAYER_TITLES[name] }));
    library.append(...options(libraries, playerOf(panel.algorithm)));
    const removal = { class: 'quiet', 'aria-label': `Remove player ${number}`, hidden: !panel.isRemovable };
    const remove = button(() => panel.onRemove(), removal, '×');
    const picture = element('div', { class: 'picture' }, this.#video, this.#state, this.#lead, this.#playButton);
    const details = element(
      'details',
      { class: 'about' },
      element('summary', {}, 'How it plays'),
      library,
      this.#about,
    );
    this.root = element(
      'article',
      { class: `player place-${panel.place}` },
      element('header', {}, swatch(), this.#algorithmChoice, remove),
      element('div', { class: 'player-body' }, picture, this.#figures, this.#fault),
      details,
    );
    this.#forecasts = new LaneForecasts(this.root, number, {
      serviceProblem: panel.serviceProblem,
      choice: (name) => this.#choose(name),
      fault: (message) => this.showFault(message),
    });
    details.append(this.#forecasts.root);
    this.#showAlgorithm();
  }

  forecaster(ofService: () => Promise<ServiceForecaster>): Promise<Forecaster | undefined> {
    return this.#forecasts.forecaster(ofService);
  }

  get algorithm(): string {
    return this.#algorithm;
  }

  get title(): string {
    return competitor(this.#algorithm).title;
  }

  /** Prepares a session for play() in place of the previous one, after clear(); returns its record. */
  prepare(prepared: PanelSession): SessionRecord {
    const { newPlayer, session, scenario, risk, forecaster, watchedSeconds } = prepared;
    this.#session = prepared;
    this.#link = new PiecewisePath(session.link).from(session.link.startSeconds);
    this.#fault.hidden = true;
    const limits = scenario.live ? LIVE_LIMITS[playerOf(this.#algorithm)] : '';
    setText(this.#about, competitor(this.#algorithm).about + limits);
    this.#drawFigures(figuresOf(new SessionRecord(), scenario));
    this.#video.setAttribute('aria-label', `Test picture of ${this.title}; the number in it is the representation`);
    const recorder = new SessionRecorder(this.#video, scenario);
    this.#recorder = recorder;
    const plugin = pluginOptions(this.#algorithm, {
      session,
      risk,
      forecaster,
      watchedSeconds,
      nowSeconds: () => recorder.nowSeconds,
    });
    const player = newPlayer({
      config: { scenario, algorithm: this.#algorithm, sessionUrl: session.url },
      video: this.#video,
      requests: recorder,
      onFault: (message) => {
        if (!recorder.isOver) this.#options.onFault(message);
      },
      onNotAllowed: () => {
        this.#playButton.hidden = recorder.isOver;
      },
    });
    this.#player = player;
    if (plugin !== undefined) {
      const handle = player.attach(plugin);
      handle.on('fault', ({ message }) => this.showFault(message));
      recorder.listen(handle, player);
    }
    return recorder.record;
  }

  async play(): Promise<void> {
    const player = this.#player!;
    const recorder = this.#recorder!;
    const { session, scenario } = this.#session!;
    if (scenario.live) {
      // This request starts the session's clock. If it fails, the player's own request reports it.
      recorder.startClock();
      await fetch(`${session.url}manifest.mpd`).catch(() => {});
      if (player !== this.#player || recorder.isOver) return;
    }
    player.start();
  }

  stop(): void {
    this.#recorder?.stop();
    this.#player?.rest();
    this.#video.pause();
  }

  /** Ends the session; resolves when its player and picture are freed. */
  async clear(): Promise<void> {
    this.stop();
    this.#recorder = undefined;
    this.#freed = Promise.all([this.#freed, this.#player?.destroy()]);
    this.#player = undefined;
    await this.#freed;
  }

  sample(): void {
    this.#recorder?.sample();
  }

  /** The QoE so far; undefined before there is one. */
  get qoe(): number | undefined {
    const record = this.#recorder?.record;
    return record?.startupSeconds === undefined ? undefined : qoeSoFar(record, this.#session!.scenario);
  }

  /** `lead`: of this player's score over that of the next one; undefined unless it is the best. */
  draw(isRunning: boolean, lead?: number): void {
    const record = this.#recorder?.record;
    if (record === undefined) return;
    setText(this.#lead, lead === undefined ? '' : `ahead by ${decimal(lead)}`);
    this.#lead.hidden = lead === undefined;
    const [text, kind] = stateOf(record, isRunning);
    setText(this.#state, text);
    this.#state.setAttribute('data-kind', kind);
    this.#drawFigures(figuresOf(record, this.#session!.scenario));
    this.#forecasts.draw(record, this.#link!);
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

  #choose(name: string): void {
    this.#algorithm = name;
    this.#showAlgorithm();
    this.#options.onAlgorithm();
  }

  #showAlgorithm(): void {
    const name = withoutSource(this.#algorithm);
    this.#forecasts.show(this.#algorithm);
    // The address can name others than those that are listed.
    const names = new Set([...competitors(playerOf(name)).map((one) => one.name), name]);
    const listed = [...names].map((value) => ({ value, label: competitor(splitPlayer(value).name).title }));
    this.#algorithmChoice.replaceChildren(...options(listed, name));
    this.root.setAttribute('aria-label', `Player ${this.#options.place + 1}: ${this.title}`);
  }
}

/** The score beside the picture, by name. */
function figuresOf(record: SessionRecord, scenario: Scenario): Record<string, string> {
  const orNone = <T>(value: T | undefined, text: (value: T) => string) => (value === undefined ? '–' : text(value));
  const isPlaying = record.startupSeconds !== undefined;
  const live = isPlaying ? liveSoFar(record, scenario) : undefined;
  const soFar = isPlaying ? qoeSoFar(record, scenario) : undefined;
  const { stalls, stallSeconds } = record;
  return {
    'On screen': orNone(record.shownBitrateBps, (bps) => `${bitrate(bps)} Mbit/s`),
    Bitrate: orNone(linearSoFar(record, scenario), ({ quality }) => `${megabits(quality * 1e6)} Mbit/s`),
    'Stood still':
      stalls.length === 0 ? 'never' : `${stalls.length}\u202f×, ${seconds(stallSeconds, stallSeconds < 0.1 ? 2 : 1)}`,
    ...(scenario.live
      ? { 'Behind live': orNone(live?.latencySecondsMean, (value) => seconds(value, 2)) }
      : { 'Began after': orNone(record.startupSeconds, seconds) }),
    'QoE, 1st min.': orNone(record.firstMinuteQoe ?? soFar, decimal),
    'QoE so far': orNone(soFar, decimal),
  };
}

function stateOf(record: SessionRecord, isRunning: boolean): [text: string, kind: string] {
  if (record.endedBy === 'end') return ['finished', 'finished'];
  if (!isRunning) return ['stopped', 'finished'];
  if (record.startupSeconds === undefined) return ['starting', 'waiting'];
  if (record.isStalled) {
    return [`stands still ${seconds(record.nowSeconds - record.stalls.at(-1)!.startSeconds)}`, 'stalled'];
  }
  return ['playing', 'playing'];
}
