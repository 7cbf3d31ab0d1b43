/** A player of the page: its video, algorithm and current figures. It plays a session at a time. */

import { PLAYERS, type PlayerName, splitPlayer } from '../../replay/algorithms.ts';
import type { PlayerContext, TestPlayer } from '../../replay/browser/page/test-player.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { competitor, competitors, inOtherPlayer, PLAYER_TITLES, playerOf } from '../choice/competitors.ts';
import { button, element, options, select, setText, styleOfPlace } from '../dom.ts';
import { bitrate, bytes, seconds } from '../format.ts';
import { dataOf, qualityOf, type Seen, SessionRecord, seenSoFar } from '../run/session-record.ts';
import { LaneForecasts, withoutSource } from './lane-forecasts.ts';
import { type PluginSession, pluginOptions } from './plugin-options.ts';
import { SessionRecorder } from './session-recorder.ts';

export interface PlayerPanelOptions {
  /** Number from 0, which selects colour and dashes. */
  place: number;
  algorithm: string;
  isRemovable: boolean;
  /** Why no prediction service can be started; undefined if one can. */
  serviceProblem: string | undefined;
  /** The viewer chose another algorithm or player, which the next session will use. */
  onAlgorithm(): void;
  onRemove(): void;
  onFault(message: string): void;
}

export type PanelSession = Omit<PluginSession, 'nowSeconds'> & { newPlayer: (context: PlayerContext) => TestPlayer };

interface PanelDrawing {
  isRunning: boolean;
  isAhead: boolean;
  /** The frozen time and the data per hour that fill their bars. */
  most: { frozenSeconds: number; bitsPerHour: number };
}

/** What a player lacks in a live stream. */
const LIVE_LIMITS: Readonly<Record<PlayerName, string>> = {
  dash: '',
  hls: ' hls.js never jumps to the live edge here.',
  shaka: ' Shaka joins at a latency of its own, and never jumps to the live edge here.',
};

export class PlayerPanel {
  readonly root: HTMLElement;
  readonly forecasts: LaneForecasts;
  algorithm: string;
  readonly #video = element('video', { muted: true, playsinline: true, width: 352, height: 198 });
  readonly #algorithmChoice: HTMLSelectElement;
  readonly #state = element('span', { class: 'state' }, 'loading');
  readonly #lead = element(
    'strong',
    { class: 'lead', hidden: true, title: 'the highest QoE so far, at no more than 0.15 s more latency' },
    'ahead',
  );
  readonly #fault = element('p', { class: 'fault', hidden: true });
  readonly #about = element('p', {});
  readonly #playButton = button(() => void this.#video.play(), { class: 'play', hidden: true }, 'Play');
  readonly #frozen = figure('Frozen', 'frozen');
  readonly #quality = figure('Quality', 'quality');
  readonly #onScreen = figure('Now');
  readonly #delay = figure('');
  readonly #data = figure('Data', 'data');
  readonly #qoe = element('p', { class: 'small' });
  #player: TestPlayer | undefined;
  #recorder: SessionRecorder | undefined;
  #session: PanelSession | undefined;
  /** Resolves when the previous player has left the picture. */
  #freed: Promise<unknown> = Promise.resolve();

  constructor(private readonly panel: PlayerPanelOptions) {
    this.algorithm = panel.algorithm;
    const number = panel.place + 1;
    this.#video.muted = true;
    this.#video.addEventListener('playing', () => this.#playButton.toggleAttribute('hidden', true));
    this.#algorithmChoice = select({ 'aria-label': `Algorithm of player ${number}` }, (name) => this.#choose(name));
    const library = select({ 'aria-label': `Library of player ${number}` }, (player) =>
      this.#choose(inOtherPlayer(this.algorithm, player as PlayerName)),
    );
    const libraries = PLAYERS.map((name) => ({ value: name, label: PLAYER_TITLES[name] }));
    library.append(...options(libraries, playerOf(panel.algorithm)));
    const removal = { class: 'quiet', 'aria-label': `Remove player ${number}`, hidden: !panel.isRemovable };
    const remove = button(() => panel.onRemove(), removal, '×');
    const picture = element('div', { class: 'picture' }, this.#video, this.#state, this.#lead, this.#playButton);
    const [summary, label] = [element('summary', {}, 'How it plays'), element('label', {}, 'Player: ', library)];
    const details = element('details', { class: 'about' }, summary, label, this.#about);
    const rows = [this.#frozen, this.#quality, this.#data, this.#onScreen, this.#delay];
    const figures = element('dl', { class: 'figures' }, ...rows.map(({ root }) => root));
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
    this.root = element(
      'article',
      { class: 'player', style: styleOfPlace(panel.place) },
      element('header', {}, swatch, this.#algorithmChoice, remove),
      element('div', { class: 'player-body' }, picture, figures, this.#fault),
      details,
    );
    this.forecasts = new LaneForecasts(number, {
      serviceProblem: panel.serviceProblem,
      choice: (name) => this.#choose(name),
    });
    details.append(this.forecasts.root, this.#qoe);
    this.#showAlgorithm();
  }

  get title(): string {
    return competitor(this.algorithm).title;
  }

  /** Prepares a session for play(). Call clear() first. Returns the record of the session. */
  prepare(prepared: PanelSession): SessionRecord {
    const { newPlayer, session, scenario, forecaster } = prepared;
    this.#session = prepared;
    this.#fault.hidden = true;
    const limits = scenario.live ? LIVE_LIMITS[playerOf(this.algorithm)] : '';
    setText(this.#about, competitor(this.algorithm).about + limits);
    this.#drawFigures(new SessionRecord(), scenario, { frozenSeconds: 1, bitsPerHour: 1 });
    this.#video.setAttribute('aria-label', `Film in ${this.title}`);
    const recorder = new SessionRecorder(this.#video, scenario);
    this.#recorder = recorder;
    const nowSeconds = () => recorder.nowSeconds;
    const plugin = pluginOptions(this.algorithm, { session, scenario, forecaster, nowSeconds });
    const player = newPlayer({
      config: { scenario, algorithm: this.algorithm, sessionUrl: session.url },
      video: this.#video,
      requests: recorder,
      onFault: (message) => {
        if (!recorder.isOver) this.panel.onFault(message);
      },
      onNotAllowed: () => this.#playButton.toggleAttribute('hidden', recorder.isOver),
    });
    this.#player = player;
    if (plugin !== undefined) {
      const handle = player.attach(plugin.options, plugin.tools);
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
      // This request starts the session's clock. If the request fails, the player's own request reports that.
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

  /** Ends the session. Resolves when its player and picture are free. */
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

  /** What the viewer has seen so far. It is undefined before the first picture moves. */
  get seen(): Seen | undefined {
    return this.#recorder && seenSoFar(this.#recorder.record, this.#session!.scenario);
  }

  draw({ isRunning, isAhead, most }: PanelDrawing): void {
    const record = this.#recorder?.record;
    if (record === undefined) return;
    this.#lead.hidden = !isAhead;
    const [text, kind] = stateOf(record, isRunning);
    setText(this.#state, text);
    this.#state.setAttribute('data-kind', kind);
    this.#drawFigures(record, this.#session!.scenario, most);
    this.forecasts.draw(record);
  }

  get used() {
    const record = this.#recorder?.record ?? new SessionRecord();
    const { bitsPerHour = 0 } = this.#session ? dataOf(record, this.#session.scenario) : {};
    return { frozenSeconds: record.stallSeconds, bitsPerHour };
  }

  #drawFigures(record: SessionRecord, scenario: Scenario, most: PanelDrawing['most']): void {
    const seen = seenSoFar(record, scenario);
    const { freezeCount, stallSeconds, shownBitrateBps: bps, startupSeconds, samples } = record;
    const latencySeconds = samples.at(-1)?.latencySeconds;
    const frozen = `${seconds(stallSeconds)}, ${freezeCount}\u202f×`;
    this.#frozen.show(freezeCount === 0 ? 'never' : frozen, stallSeconds / most.frozenSeconds);
    this.#quality.show(seen ? `${seen.quality.toFixed(0)} of 100` : '–', (seen?.quality ?? 0) / 100);
    this.#onScreen.show(bps ? `${qualityOf(bps, scenario).toFixed(0)} at ${bitrate(bps)}\u00a0Mbit/s` : '–');
    const delay = scenario.live ? latencySeconds : startupSeconds;
    setText(this.#delay.name, scenario.live ? 'Behind live' : 'Began after');
    this.#delay.show(delay === undefined ? '–' : seconds(delay));
    const { bits, bitsPerHour } = dataOf(record, scenario);
    const data = bitsPerHour === undefined ? '–' : `${bytes(bits)}, ${bytes(bitsPerHour)}/h`;
    this.#data.show(data, (bitsPerHour ?? 0) / most.bitsPerHour);
    setText(this.#qoe, `QoE so far: ${seen ? `${seen.perceived.toFixed(0)} of 100` : '–'}`);
  }

  showFault(message: string): void {
    setText(this.#fault, message);
    this.#fault.hidden = false;
  }

  #choose(name: string): void {
    this.algorithm = name;
    this.#showAlgorithm();
    this.panel.onAlgorithm();
  }

  #showAlgorithm(): void {
    const name = withoutSource(this.algorithm);
    this.forecasts.show(this.algorithm);
    // The address can name algorithms that are not listed.
    const names = new Set([...competitors(playerOf(name)).map((one) => one.name), name]);
    const listed = [...names].map((value) => ({ value, label: competitor(splitPlayer(value).name).title }));
    this.#algorithmChoice.replaceChildren(...options(listed, name));
    this.root.setAttribute('aria-label', `Player ${this.panel.place + 1}: ${this.title}`);
  }
}

/** Makes a figure beside the picture, with a bar if it has a `kind`. */
function figure(title: string, kind?: string) {
  const [name, text] = [element('dt', {}, title), element('span', {}, '–')];
  const bar = kind === undefined ? undefined : element('i', { class: `bar ${kind}`, 'aria-hidden': 'true' });
  const show = (value: string, share = 0) => {
    setText(text, value);
    bar?.style.setProperty('--share', share.toFixed(3));
  };
  return { name, root: element('div', {}, name, element('dd', {}, text, bar)), show };
}

function stateOf(record: SessionRecord, isRunning: boolean): [text: string, kind: string] {
  if (record.hasEnded) return ['finished', 'finished'];
  if (!isRunning) return ['stopped', 'finished'];
  if (record.startupSeconds === undefined) return ['starting', 'waiting'];
  if (!record.isStalled) return ['playing', 'playing'];
  return [`frozen ${seconds(record.nowSeconds - record.stalls.at(-1)!.startSeconds)}`, 'stalled'];
}
