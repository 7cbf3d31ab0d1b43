/** The demo page: it has the viewer's choice, the players, and their current run. */

import { loadPlayer } from '../replay/browser/page/load-player.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import { choiceOf, type DemoChoice, formatChoice, parseChoice } from './choice/choice.ts';
import { addOwnAlgorithms, competitors, playerOf } from './choice/competitors.ts';
import { Controls } from './choice/controls.ts';
import { linkNote, notesOn, readOwnTrace, tooShort } from './choice/own-trace.ts';
import { byId, nextTask, setText } from './dom.ts';
import { PlayerPanel } from './lane/player-panel.ts';
import { ServiceLink, serviceProblem } from './lane/service-link.ts';
import { Notices } from './notices.ts';
import { OriginClient, OriginLostError, type TraceListing } from './origin/origin-client.ts';
import { OriginWatch } from './origin/origin-watch.ts';
import { type DemoRun, nowSecondsOf, type RunPlayer, sessionSecondsOf } from './run/run.ts';
import { isAhead } from './run/session-record.ts';
import { Timeline } from './run/timeline-model.ts';
import { RunViews } from './views/run-views.ts';

const SAMPLE_MS = 100;
const DRAW_MS = 250;
/** A shorter frozen time does not fill its bar. */
const LEAST_FROZEN_SECONDS = 2;
/** The period of drawing if the viewer prefers reduced motion. */
const CALM_DRAW_MS = 1000;
/** The machine is busy if ticks of a run are late by this share of its time, and by this sum. */
const BUSY_SHARE = 0.2;
const BUSY_MS = 3000;
/** Room on the timeline beyond the duration of the media, for startup and stalls. */
const SLACK_SECONDS = 8;

export class DemoPage {
  private readonly _watch: OriginWatch;
  private readonly _controls: Controls;
  private readonly _views = new RunViews();
  private readonly _service = new ServiceLink();
  private _choice: DemoChoice;
  private _panels: PlayerPanel[] = [];
  private _run: DemoRun | undefined;
  /** Counts the starts: if a later start overtakes a start, the earlier start returns early. */
  private _starts = 0;
  private _drawnAtMs = 0;
  private _tickedAtMs = 0;
  /** Sum over the ticks of the run. */
  private _lateMs = 0;

  static async open(): Promise<void> {
    const notices = new Notices(byId('notices'));
    try {
      // The players load while the origin answers.
      for (const name of parseChoice(location.search, { traces: [] }).choice.players) void loadPlayer(playerOf(name));
      const origin = await OriginClient.find();
      await addOwnAlgorithms(origin.algorithms);
      const page = new DemoPage(origin, await origin.traces(), notices);
      await page._start();
    } catch (error) {
      const isLost = error instanceof OriginLostError;
      const hint = isLost ? '. The players stream from an origin, which npm start runs beside this page.' : '';
      const action = { label: 'Try again', run: () => location.reload() };
      notices.show('open', { kind: 'error', text: messageOf(error) + hint, action });
    }
  }

  private constructor(
    private readonly _origin: OriginClient,
    private _traces: readonly TraceListing[],
    private readonly _notices: Notices,
  ) {
    this._watch = new OriginWatch(_origin, _notices);
    this._controls = new Controls({
      onChoice: (change) => this._choose(change),
      onScene: (scene) => this._choose(choiceOf(scene), true),
      onFiles: (files) => void this._openTrace(files),
      onRestart: () => void this._start(),
      onStop: () => this._stop(),
      onAddPlayer: () => this._addPlayer(),
    });
    const { choice, problems } = parseChoice(location.search, { traces: _traces });
    this._choice = choice;
    if (problems.length > 0) _notices.show('address', { kind: 'hint', text: problems.join(' ') });
    this._makePanels();
    setInterval(() => this._tick(), SAMPLE_MS);
  }

  /** Takes a change of the choice, and starts. Other players need other panels. */
  private _choose(change: Partial<DemoChoice>, hasOtherPlayers = false): void {
    this._choice = { ...this._choice, ...change };
    if (hasOtherPlayers) this._makePanels();
    void this._start();
  }

  private async _openTrace(files: readonly File[]): Promise<void> {
    this._notices.clear('trace');
    try {
      const upload = await readOwnTrace(files);
      const parts = await this._origin.addTrace(upload);
      const names = parts.map(({ name }) => name);
      this._traces = [...this._traces.filter(({ name }) => !names.includes(name)), ...parts];
      const problems = parts.map((part) => tooShort(part, SCENARIOS[this._choice.scenario]!));
      const fitting = parts[problems.indexOf(undefined)];
      if (fitting === undefined) throw new Error(problems[0]);
      const text = notesOn(upload.file, parts);
      if (text !== undefined) this._notices.show('trace', { kind: 'hint', text });
      this._choose({ trace: fitting.name, startSeconds: 0 });
    } catch (error) {
      if (error instanceof OriginLostError) this._watch.lost();
      else this._notices.show('trace', { kind: 'error', text: `That trace cannot be replayed. ${messageOf(error)}` });
    }
  }

  private _makePanels(): void {
    for (const panel of this._panels) void panel.clear();
    const { players } = this._choice;
    this._panels = players.map((algorithm, place) => {
      const panel: PlayerPanel = new PlayerPanel({
        place,
        algorithm,
        isRemovable: players.length > 1,
        onAlgorithm: () => this._choose({ players: this._panels.map((one) => one.algorithm) }),
        serviceProblem: serviceProblem(this._origin),
        onRemove: () => this._removePlayer(place),
        onFault: (message) => {
          panel.showFault(`Playback failed: ${message}`);
          void this._watch.look();
        },
      });
      return panel;
    });
    const host = byId('players');
    host.style.setProperty('--players', String(this._panels.length));
    host.replaceChildren(...this._panels.map(({ root }) => root));
  }

  private _addPlayer(): void {
    const { players } = this._choice;
    const all = competitors('dash');
    const next = all.find(({ name }) => !players.includes(name)) ?? all[0]!;
    this._choose({ players: [...players, next.name] }, true);
  }

  private _removePlayer(place: number): void {
    this._choose({ players: this._choice.players.filter((_, other) => other !== place) }, true);
    this._controls.addPlayer.focus();
  }

  /** Starts all players together. */
  private async _start(): Promise<void> {
    const start = ++this._starts;
    const isOvertaken = () => start !== this._starts;
    history.replaceState(null, '', formatChoice(this._choice));
    this._controls.show(this._choice, this._traces);
    this._endRun();
    this._notices.clear('run');
    try {
      const run = await this._prepare(isOvertaken);
      this._run = run;
      this._lateMs = 0;
      await this._views.begin(run);
      // A run that was stopped meanwhile is drawn, too: its lanes stay in view.
      if (run === this._run) this._draw();
    } catch (error) {
      if (isOvertaken()) return;
      this._endRun();
      for (const panel of this._panels) void panel.clear();
      if (error instanceof OriginLostError) return this._watch.lost();
      const text = `The players cannot start: ${messageOf(error)}.`;
      const action = { label: 'Try again', run: () => void this._start() };
      this._notices.show('run', { kind: 'error', text, action });
    }
  }

  /** Creates the sessions and starts their players. Rejects if a later start overtakes it. */
  private async _prepare(isOvertaken: () => boolean): Promise<DemoRun> {
    // Each step is a separate task: together, the steps would block the main thread for too long.
    const nextStep = async (): Promise<void> => {
      await nextTask();
      if (isOvertaken()) throw new Error('overtaken');
    };
    const panels = this._panels;
    const { trace: traceName, scenario: scenarioName, startSeconds, isShared } = this._choice;
    const trace = this._traces.find(({ name }) => name === traceName)!;
    const scenario = SCENARIOS[scenarioName]!;
    const problem = tooShort(trace, scenario);
    const note = linkNote(trace, scenario, this._choice);
    setText(byId('link-note'), problem ?? note);
    if (problem !== undefined) throw new Error(problem);
    if (trace.keepsRates) this._notices.show('link', { kind: 'hint', text: `${trace.name}: ${note}` });
    else this._notices.clear('link');
    const newPlayers = await Promise.all(panels.map(({ algorithm }) => loadPlayer(playerOf(algorithm))));
    await nextStep();
    const spec = { trace: traceName, scenario: scenarioName, startSeconds };
    const sessions = await this._origin.createSessions(spec, panels.length, isShared);
    for (const panel of panels) {
      await nextStep();
      await panel.clear();
    }
    await nextStep();
    const players: RunPlayer[] = [];
    const onClock = (zeroMs: number) => {
      if (isShared) for (const panel of panels) panel.startClock(zeroMs);
    };
    for (const [place, panel] of panels.entries()) {
      const session = sessions[place]!;
      const forecaster = await panel.forecasts.forecaster(() => this._service.forecasterFor(session));
      await nextStep();
      const newPlayer = newPlayers[place]!;
      const record = panel.prepare({ newPlayer, session, scenario, forecaster, onClock });
      players.push({ place, algorithm: panel.algorithm, title: panel.title, record });
    }
    for (const panel of panels) {
      await nextStep();
      void panel.play();
    }
    await nextStep();
    const timeline = new Timeline(sessions[0]!.link, sessionSecondsOf(scenario) + SLACK_SECONDS, trace.hasClock);
    return { startSeconds, isShared, trace, scenario, timeline, players, ended: false };
  }

  private _stop(): void {
    this._starts++;
    this._endRun();
    this._draw();
  }

  private _endRun(): void {
    for (const panel of this._panels) panel.stop();
    this._service.rest();
    if (this._run !== undefined) this._run.ended = true;
  }

  private _tick(): void {
    for (const panel of this._panels) panel.sample();
    const now = performance.now();
    // Browsers slow the timers of a hidden page.
    if (!document.hidden) this._lateMs += Math.max(0, now - this._tickedAtMs - SAMPLE_MS);
    this._tickedAtMs = now;
    const run = this._run;
    if (run === undefined || run.ended) return;
    const mostMs = Math.max(BUSY_MS, BUSY_SHARE * 1000 * nowSecondsOf(run));
    run.isBusy ||= run.players.length > 2 && this._lateMs > mostMs;
    const hasEnded = run.players.every(({ record }) => record.hasEnded);
    if (hasEnded) this._endRun();
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (!hasEnded && now - this._drawnAtMs < (isCalm ? CALM_DRAW_MS : DRAW_MS) - SAMPLE_MS / 2) return;
    this._drawnAtMs = now;
    this._draw();
  }

  private _draw(): void {
    const run = this._run;
    if (run === undefined) return;
    run.timeline.extendTo(nowSecondsOf(run));
    const seen = this._panels.map((panel) => panel.seen);
    const used = this._panels.map((panel) => panel.used);
    const most = {
      frozenSeconds: Math.max(LEAST_FROZEN_SECONDS, ...used.map((one) => one.frozenSeconds)),
      bitsPerHour: Math.max(1, ...used.map((one) => one.bitsPerHour)),
    };
    for (const [i, panel] of this._panels.entries()) {
      panel.draw({
        isRunning: !run.ended,
        isAhead: isAhead(
          seen[i],
          seen.filter((_, other) => run.players[other]?.title !== run.players[i]?.title),
        ),
        most,
      });
    }
    this._controls.stop.disabled = run.ended;
    this._views.draw();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
