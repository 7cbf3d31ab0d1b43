/** A player of the page: its video, algorithm and current figures. It plays a session at a time. */

import { PLAYERS, type PlayerName, splitPlayer } from '../../replay/algorithms.ts';
import type { PlayerContext, TestPlayer } from '../../replay/browser/page/test-player.ts';
import type { Scenario } from '../../replay/scenarios.ts';
import { competitor, competitors, inOtherPlayer, PLAYER_TITLES, playerOf } from '../choice/competitors.ts';
import { button, element, options, select, setText, styleOfPlace } from '../dom.ts';
import { bitrate, bytes, seconds } from '../format.ts';
import { dataOf, type Seen, SessionRecord, seenSoFar } from '../run/session-record.ts';
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

export type PanelSession = Omit<PluginSession, 'nowSeconds'> & {
  newPlayer: (context: PlayerContext) => TestPlayer;
  onClock(zeroMs: number): void;
};

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
  private readonly _video = element('video', { muted: true, playsinline: true, width: 352, height: 198 });
  private readonly _algorithmChoice: HTMLSelectElement;
  private readonly _state = element('span', { class: 'state' }, 'loading');
  private readonly _lead = element(
    'strong',
    { class: 'lead', hidden: true, title: 'the highest QoE so far, at no more than 0.15 s more latency' },
    'ahead',
  );
  private readonly _fault = element('p', { class: 'fault', hidden: true });
  private readonly _about = element('p', {});
  private readonly _playButton = button(() => void this._video.play(), { class: 'play', hidden: true }, 'Play');
  private readonly _frozen = figure('Frozen', 'frozen');
  private readonly _quality = figure('Quality', 'quality');
  private readonly _onScreen = figure('Picture now');
  private readonly _delay = figure('');
  private readonly _data = figure('Data', 'data');
  private readonly _qoe = element('p', { class: 'small' });
  private _player: TestPlayer | undefined;
  private _recorder: SessionRecorder | undefined;
  private _session: PanelSession | undefined;
  /** Resolves when the previous player has left the picture. */
  private _freed: Promise<unknown> = Promise.resolve();

  constructor(private readonly _panel: PlayerPanelOptions) {
    this.algorithm = _panel.algorithm;
    const number = _panel.place + 1;
    this._video.muted = true;
    this._video.addEventListener('playing', () => this._playButton.toggleAttribute('hidden', true));
    this._algorithmChoice = select({ 'aria-label': `Algorithm of player ${number}` }, (name) => this._choose(name));
    const library = select({ 'aria-label': `Library of player ${number}` }, (player) =>
      this._choose(inOtherPlayer(this.algorithm, player as PlayerName)),
    );
    const libraries = PLAYERS.map((name) => ({ value: name, label: PLAYER_TITLES[name] }));
    library.append(...options(libraries, playerOf(_panel.algorithm)));
    const removal = { class: 'quiet', 'aria-label': `Remove player ${number}`, hidden: !_panel.isRemovable };
    const remove = button(() => _panel.onRemove(), removal, '×');
    const picture = element('div', { class: 'picture' }, this._video, this._state, this._lead, this._playButton);
    const [summary, label] = [element('summary', {}, 'How it plays'), element('label', {}, 'Player: ', library)];
    const details = element('details', { class: 'about' }, summary, label, this._about);
    const rows = [this._frozen, this._quality, this._data, this._onScreen, this._delay];
    const figures = element('dl', { class: 'figures' }, ...rows.map(({ root }) => root));
    const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
    this.root = element(
      'article',
      { class: 'player', style: styleOfPlace(_panel.place) },
      element('header', {}, swatch, this._algorithmChoice, remove),
      element('div', { class: 'player-body' }, picture, figures, this._fault),
      details,
    );
    this.forecasts = new LaneForecasts(number, {
      serviceProblem: _panel.serviceProblem,
      choice: (name) => this._choose(name),
    });
    details.append(this.forecasts.root, this._qoe);
    this._showAlgorithm();
  }

  get title(): string {
    return competitor(this.algorithm).title;
  }

  /** Prepares a session for play(). Call clear() first. Returns the record of the session. */
  prepare(prepared: PanelSession): SessionRecord {
    const { newPlayer, session, scenario, forecaster, onClock } = prepared;
    this._session = prepared;
    this._fault.hidden = true;
    const limits = scenario.live ? LIVE_LIMITS[playerOf(this.algorithm)] : '';
    setText(this._about, competitor(this.algorithm).about + limits);
    this._drawFigures(new SessionRecord(), scenario, { frozenSeconds: 1, bitsPerHour: 1 });
    this._video.setAttribute('aria-label', `Film in ${this.title}`);
    const recorder = new SessionRecorder(this._video, scenario, onClock);
    this._recorder = recorder;
    const nowSeconds = () => recorder.nowSeconds;
    const plugin = pluginOptions(this.algorithm, { session, scenario, forecaster, nowSeconds });
    const player = newPlayer({
      config: { scenario, algorithm: this.algorithm, sessionUrl: session.url },
      video: this._video,
      requests: recorder,
      onFault: (message) => {
        if (!recorder.isOver) this._panel.onFault(message);
      },
      onNotAllowed: () => this._playButton.toggleAttribute('hidden', recorder.isOver),
    });
    this._player = player;
    if (plugin !== undefined) {
      const handle = player.attach(plugin.options, plugin.tools);
      handle.on('fault', ({ message }) => this.showFault(message));
      recorder.listen(handle, player);
    }
    return recorder.record;
  }

  async play(): Promise<void> {
    const player = this._player!;
    const recorder = this._recorder!;
    const { session, scenario } = this._session!;
    if (scenario.live) {
      // This request starts the session's clock. If the request fails, the player's own request reports that.
      recorder.startClock();
      await fetch(`${session.url}manifest.mpd`).catch(() => {});
      if (player !== this._player || recorder.isOver) return;
    }
    player.start();
  }

  startClock(zeroMs: number): void {
    this._recorder?.startClock(zeroMs);
  }

  stop(): void {
    this._recorder?.stop();
    this._player?.rest();
    this._video.pause();
  }

  /** Ends the session. Resolves when its player and picture are free. */
  async clear(): Promise<void> {
    this.stop();
    this._recorder = undefined;
    this._freed = Promise.all([this._freed, this._player?.destroy()]);
    this._player = undefined;
    await this._freed;
  }

  sample(): void {
    this._recorder?.sample();
  }

  /** What the viewer has seen so far. It is undefined before the first picture moves. */
  get seen(): Seen | undefined {
    return this._recorder && seenSoFar(this._recorder.record, this._session!.scenario);
  }

  draw({ isRunning, isAhead, most }: PanelDrawing): void {
    const record = this._recorder?.record;
    if (record === undefined) return;
    this._lead.hidden = !isAhead;
    const [text, kind] = stateOf(record, isRunning);
    setText(this._state, text);
    this._state.setAttribute('data-kind', kind);
    this._drawFigures(record, this._session!.scenario, most);
    this.forecasts.draw(record);
  }

  get used() {
    const record = this._recorder?.record ?? new SessionRecord();
    const { bitsPerHour = 0 } = this._session ? dataOf(record, this._session.scenario) : {};
    return { frozenSeconds: record.stallSeconds, bitsPerHour };
  }

  private _drawFigures(record: SessionRecord, scenario: Scenario, most: PanelDrawing['most']): void {
    const seen = seenSoFar(record, scenario);
    const { freezeCount, stallSeconds, shownBitrateBps: bps, startupSeconds, samples } = record;
    const latencySeconds = samples.at(-1)?.latencySeconds;
    // Stalls that nobody notices are no freeze.
    if (freezeCount === 0) this._frozen.show('never', 0);
    else this._frozen.show(seconds(stallSeconds), stallSeconds / most.frozenSeconds);
    this._quality.show(seen ? `${seen.quality.toFixed(0)} of 100` : '–', (seen?.quality ?? 0) / 100);
    this._onScreen.show(bps ? `${bitrate(bps)}\u00a0Mbit/s` : '–');
    const delay = scenario.live ? latencySeconds : startupSeconds;
    setText(this._delay.name, scenario.live ? 'Behind live' : 'Began after');
    this._delay.show(delay === undefined ? '–' : seconds(delay));
    const { bits, bitsPerHour } = dataOf(record, scenario);
    const data = bitsPerHour === undefined ? '–' : `${bytes(bits)}, ${bytes(bitsPerHour)}/h`;
    this._data.show(data, (bitsPerHour ?? 0) / most.bitsPerHour);
    setText(this._qoe, `QoE so far: ${seen ? `${seen.perceived.toFixed(0)} of 100` : '–'}`);
  }

  showFault(message: string): void {
    setText(this._fault, message);
    this._fault.hidden = false;
  }

  private _choose(name: string): void {
    this.algorithm = name;
    this._showAlgorithm();
    this._panel.onAlgorithm();
  }

  private _showAlgorithm(): void {
    const name = withoutSource(this.algorithm);
    this.forecasts.show(this.algorithm);
    // The address can name algorithms that are not listed.
    const names = new Set([...competitors(playerOf(name)).map((one) => one.name), name]);
    const listed = [...names].map((value) => ({ value, label: competitor(splitPlayer(value).name).title }));
    this._algorithmChoice.replaceChildren(...options(listed, name));
    this.root.setAttribute('aria-label', `Player ${this._panel.place + 1}: ${this.title}`);
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
