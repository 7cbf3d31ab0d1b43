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
/** Room on the timeline beyond the duration of the media, for startup and stalls. */
const SLACK_SECONDS = 8;

export class DemoPage {
  readonly #watch: OriginWatch;
  readonly #controls: Controls;
  readonly #views = new RunViews();
  readonly #service = new ServiceLink();
  #choice: DemoChoice;
  #panels: PlayerPanel[] = [];
  #run: DemoRun | undefined;
  /** Counts the starts: if a later start overtakes a start, the earlier start returns early. */
  #starts = 0;
  #drawnAtMs = 0;

  static async open(): Promise<void> {
    const notices = new Notices(byId('notices'));
    try {
      // The players load while the origin answers.
      for (const name of parseChoice(location.search, { traces: [] }).choice.players) void loadPlayer(playerOf(name));
      const origin = await OriginClient.find();
      await addOwnAlgorithms(origin.algorithms);
      const page = new DemoPage(origin, await origin.traces(), notices);
      await page.#start();
    } catch (error) {
      const isLost = error instanceof OriginLostError;
      const hint = isLost ? '. The players stream from an origin, which npm start runs beside this page.' : '';
      const action = { label: 'Try again', run: () => location.reload() };
      notices.show('open', { kind: 'error', text: messageOf(error) + hint, action });
    }
  }

  private constructor(
    private readonly origin: OriginClient,
    private traces: readonly TraceListing[],
    private readonly notices: Notices,
  ) {
    this.#watch = new OriginWatch(origin, notices);
    this.#controls = new Controls({
      onChoice: (change) => this.#choose(change),
      onScene: (scene) => this.#choose(choiceOf(scene), true),
      onFiles: (files) => void this.#openTrace(files),
      onRestart: () => void this.#start(),
      onStop: () => this.#stop(),
      onAddPlayer: () => this.#addPlayer(),
    });
    const { choice, problems } = parseChoice(location.search, { traces });
    this.#choice = choice;
    if (problems.length > 0) notices.show('address', { kind: 'hint', text: problems.join(' ') });
    this.#makePanels();
    setInterval(() => this.#tick(), SAMPLE_MS);
  }

  /** Takes a change of the choice, and starts. Other players need other panels. */
  #choose(change: Partial<DemoChoice>, hasOtherPlayers = false): void {
    this.#choice = { ...this.#choice, ...change };
    if (hasOtherPlayers) this.#makePanels();
    void this.#start();
  }

  async #openTrace(files: readonly File[]): Promise<void> {
    this.notices.clear('trace');
    try {
      const upload = await readOwnTrace(files);
      const parts = await this.origin.addTrace(upload);
      const names = parts.map(({ name }) => name);
      this.traces = [...this.traces.filter(({ name }) => !names.includes(name)), ...parts];
      const problems = parts.map((part) => tooShort(part, SCENARIOS[this.#choice.scenario]!));
      const fitting = parts[problems.indexOf(undefined)];
      if (fitting === undefined) throw new Error(problems[0]);
      const text = notesOn(upload.file, parts);
      if (text !== undefined) this.notices.show('trace', { kind: 'hint', text });
      this.#choose({ trace: fitting.name, startSeconds: 0 });
    } catch (error) {
      if (error instanceof OriginLostError) this.#watch.lost();
      else this.notices.show('trace', { kind: 'error', text: `That trace cannot be replayed. ${messageOf(error)}` });
    }
  }

  #makePanels(): void {
    for (const panel of this.#panels) void panel.clear();
    const { players } = this.#choice;
    this.#panels = players.map((algorithm, place) => {
      const panel: PlayerPanel = new PlayerPanel({
        place,
        algorithm,
        isRemovable: players.length > 1,
        onAlgorithm: () => this.#choose({ players: this.#panels.map((one) => one.algorithm) }),
        serviceProblem: serviceProblem(this.origin),
        onRemove: () => this.#removePlayer(place),
        onFault: (message) => {
          panel.showFault(`Playback failed: ${message}`);
          void this.#watch.look();
        },
      });
      return panel;
    });
    const host = byId('players');
    host.style.setProperty('--players', String(this.#panels.length));
    host.replaceChildren(...this.#panels.map(({ root }) => root));
  }

  #addPlayer(): void {
    const { players } = this.#choice;
    const all = competitors('dash');
    const next = all.find(({ name }) => !players.includes(name)) ?? all[0]!;
    this.#choose({ players: [...players, next.name] }, true);
  }

  #removePlayer(place: number): void {
    this.#choose({ players: this.#choice.players.filter((_, other) => other !== place) }, true);
    this.#controls.addPlayer.focus();
  }

  /** Starts all players together. Each player has its own copy of the link. */
  async #start(): Promise<void> {
    const start = ++this.#starts;
    const isOvertaken = () => start !== this.#starts;
    history.replaceState(null, '', formatChoice(this.#choice));
    this.#controls.show(this.#choice, this.traces);
    this.#endRun();
    this.notices.clear('run');
    try {
      const run = await this.#prepare(isOvertaken);
      this.#run = run;
      await this.#views.begin(run);
      // A run that was stopped meanwhile is drawn, too: its lanes stay in view.
      if (run === this.#run) this.#draw();
    } catch (error) {
      if (isOvertaken()) return;
      this.#endRun();
      for (const panel of this.#panels) void panel.clear();
      if (error instanceof OriginLostError) return this.#watch.lost();
      const text = `The players cannot start: ${messageOf(error)}.`;
      const action = { label: 'Try again', run: () => void this.#start() };
      this.notices.show('run', { kind: 'error', text, action });
    }
  }

  /** Creates the sessions and starts their players. Rejects if a later start overtakes it. */
  async #prepare(isOvertaken: () => boolean): Promise<DemoRun> {
    // Each step is a separate task: together, the steps would block the main thread for too long.
    const nextStep = async (): Promise<void> => {
      await nextTask();
      if (isOvertaken()) throw new Error('overtaken');
    };
    const panels = this.#panels;
    const { trace: traceName, scenario: scenarioName, startSeconds } = this.#choice;
    const trace = this.traces.find(({ name }) => name === traceName)!;
    const scenario = SCENARIOS[scenarioName]!;
    const problem = tooShort(trace, scenario);
    const note = linkNote(trace, scenario, startSeconds);
    setText(byId('link-note'), problem ?? note);
    if (problem !== undefined) throw new Error(problem);
    if (trace.keepsRates) this.notices.show('link', { kind: 'hint', text: `${trace.name}: ${note}` });
    else this.notices.clear('link');
    const newPlayers = await Promise.all(panels.map(({ algorithm }) => loadPlayer(playerOf(algorithm))));
    await nextStep();
    const spec = { trace: traceName, scenario: scenarioName, startSeconds };
    const sessions = await this.origin.createSessions(spec, panels.length);
    for (const panel of panels) {
      await nextStep();
      await panel.clear();
    }
    await nextStep();
    const players: RunPlayer[] = [];
    for (const [place, panel] of panels.entries()) {
      const session = sessions[place]!;
      const forecaster = await panel.forecasts.forecaster(() => this.#service.forecasterFor(session));
      await nextStep();
      const newPlayer = newPlayers[place]!;
      const record = panel.prepare({ newPlayer, session, scenario, forecaster });
      players.push({ place, algorithm: panel.algorithm, title: panel.title, record });
    }
    for (const panel of panels) {
      await nextStep();
      void panel.play();
    }
    await nextStep();
    const timeline = new Timeline(sessions[0]!.link, sessionSecondsOf(scenario) + SLACK_SECONDS, trace.hasClock);
    return { startSeconds, trace, scenario, timeline, players, ended: false };
  }

  #stop(): void {
    this.#starts++;
    this.#endRun();
    this.#draw();
  }

  #endRun(): void {
    for (const panel of this.#panels) panel.stop();
    this.#service.rest();
    if (this.#run !== undefined) this.#run.ended = true;
  }

  #tick(): void {
    for (const panel of this.#panels) panel.sample();
    const run = this.#run;
    if (run === undefined || run.ended) return;
    const hasEnded = run.players.every(({ record }) => record.hasEnded);
    if (hasEnded) this.#endRun();
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const now = performance.now();
    if (!hasEnded && now - this.#drawnAtMs < (isCalm ? CALM_DRAW_MS : DRAW_MS) - SAMPLE_MS / 2) return;
    this.#drawnAtMs = now;
    this.#draw();
  }

  #draw(): void {
    const run = this.#run;
    if (run === undefined) return;
    run.timeline.extendTo(nowSecondsOf(run));
    const seen = this.#panels.map((panel) => panel.seen);
    const used = this.#panels.map((panel) => panel.used);
    const most = {
      frozenSeconds: Math.max(LEAST_FROZEN_SECONDS, ...used.map((one) => one.frozenSeconds)),
      bitsPerHour: Math.max(1, ...used.map((one) => one.bitsPerHour)),
    };
    for (const [i, panel] of this.#panels.entries()) {
      panel.draw({
        isRunning: !run.ended,
        isAhead: isAhead(
          seen[i],
          seen.filter((_, other) => other !== i),
        ),
        most,
      });
    }
    this.#controls.stop.disabled = run.ended;
    this.#views.draw();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
