/** The page: what is chosen, the players that play it, and the views of what they do. */

import { SCENARIOS, type Scenario } from '../replay/scenarios.ts';
import { type Choice, formatChoice, latestStart, MAX_PLAYERS, parseChoice } from './choice.ts';
import { COMPETITORS } from './competitors.ts';
import { DecisionView } from './decision-view.ts';
import { byId, element, options, setText } from './dom.ts';
import { bitrate, clock, decimal } from './format.ts';
import { MomentView } from './moment-view.ts';
import { Notices } from './notices.ts';
import { OriginClient, OriginLostError, type OriginSession, type TraceListing } from './origin-client.ts';
import { PlayerPanel } from './player-panel.ts';
import { RaceView } from './race-view.ts';
import { sessionResult } from './session-record.ts';
import { download, pictureOf, resultsOf } from './take-away.ts';
import { Timeline } from './timeline-model.ts';
import { TimelineView } from './timeline-view.ts';

const SEED = 1;
const SAMPLE_MS = 100;
const DRAW_MS = 250;
/** Drawing for those who asked for less motion. */
const CALM_DRAW_MS = 1000;
const HEARTBEAT_MS = 3000;
const ANNOUNCE_MS = 10_000;
/** What the timeline has room for beyond the media: startup and stalls. */
const SLACK_SECONDS = 8;

/** One start of all players. */
interface Run {
  ended: boolean;
  timeline: Timeline;
  scenario: Scenario;
  trace: TraceListing;
  startSeconds: number;
  sessions: readonly OriginSession[];
}

export class DemoPage {
  readonly #origin: OriginClient;
  readonly #traces: readonly TraceListing[];
  readonly #notices: Notices;
  readonly #timelineView = new TimelineView(byId('lanes'));
  readonly #momentView = new MomentView(byId<HTMLTableElement>('reading'));
  readonly #raceView = new RaceView(byId('race'));
  readonly #scrubber = byId<HTMLInputElement>('moment');
  readonly #liveButton = byId<HTMLButtonElement>('live');
  #choice: Choice;
  #panels: PlayerPanel[] = [];
  #decisionViews: DecisionView[] = [];
  #run: Run | undefined;
  /** Counts the starts; one that was overtaken by another gives up. */
  #starts = 0;
  /** The moment that the viewer chose, or points at; undefined: now. */
  #chosenSeconds: number | undefined;
  #pointedSeconds: number | undefined;
  #drawnAtMs = 0;
  #announcedAtMs = 0;
  #announcedLeader: string | undefined;
  #originIsLost = false;

  /** Opens the page, or says why it cannot be. */
  static async open(): Promise<void> {
    const notices = new Notices(byId('notices'));
    try {
      const origin = await OriginClient.find();
      const traces = await origin.traces();
      const page = new DemoPage(origin, traces, notices);
      await page.#start();
    } catch (error) {
      notices.show('open', {
        kind: 'error',
        text: `${messageOf(error)}. The players stream from an origin that npm start runs beside this page.`,
        action: { label: 'Try again', run: () => location.reload() },
      });
    }
  }

  private constructor(origin: OriginClient, traces: readonly TraceListing[], notices: Notices) {
    this.#origin = origin;
    this.#traces = traces;
    this.#notices = notices;
    const { choice, problems } = parseChoice(location.search, { traces });
    this.#choice = choice;
    if (problems.length > 0) notices.show('address', { kind: 'hint', text: problems.join(' ') });
    this.#fillControls();
    this.#listen();
    this.#makePanels();
    setInterval(() => this.#tick(), SAMPLE_MS);
    setInterval(() => void this.#heartbeat(), HEARTBEAT_MS);
  }

  #fillControls(): void {
    const traceLabel = ({ name, durationSeconds }: TraceListing) => `${name} (${clock(durationSeconds)})`;
    byId('trace').append(
      ...options(
        this.#traces.map((trace) => ({ value: trace.name, label: traceLabel(trace) })),
        this.#choice.trace,
      ),
    );
    byId('scenario').append(
      ...options(
        Object.values(SCENARIOS).map((scenario) => ({ value: scenario.name, label: scenarioLabel(scenario) })),
        this.#choice.scenario,
      ),
    );
    byId<HTMLSelectElement>('window').value = this.#choice.window;
    this.#timelineView.window = this.#choice.window;
    this.#showStart();
  }

  #showStart(): void {
    const start = byId<HTMLInputElement>('start');
    start.value = String(this.#choice.startSeconds);
    start.max = String(latestStart({ traces: this.#traces }, this.#choice.trace));
  }

  #listen(): void {
    byId('controls').addEventListener('submit', (event) => event.preventDefault());
    byId<HTMLSelectElement>('trace').addEventListener('change', ({ currentTarget }) => {
      const trace = (currentTarget as HTMLSelectElement).value;
      this.#choose({ trace, startSeconds: 0 });
      this.#showStart();
    });
    byId<HTMLSelectElement>('scenario').addEventListener('change', ({ currentTarget }) =>
      this.#choose({ scenario: (currentTarget as HTMLSelectElement).value }),
    );
    byId<HTMLInputElement>('start').addEventListener('change', ({ currentTarget }) => {
      const input = currentTarget as HTMLInputElement;
      if (!input.reportValidity() || input.value === '') return;
      this.#choose({ startSeconds: Number(input.value) });
    });
    byId<HTMLSelectElement>('window').addEventListener('change', ({ currentTarget }) => {
      const window = (currentTarget as HTMLSelectElement).value as Choice['window'];
      this.#choice = { ...this.#choice, window };
      this.#showAddress();
      this.#timelineView.window = window;
      this.#draw();
    });
    byId('restart').addEventListener('click', () => void this.#start());
    byId('stop').addEventListener('click', () => this.#stop());
    byId('add-player').addEventListener('click', () => this.#addPlayer());
    byId('save-picture').addEventListener('click', () => void this.#savePicture());
    byId('save-results').addEventListener('click', () => this.#saveResults());

    this.#timelineView.onPoint = (seconds, chosen) => {
      this.#pointedSeconds = seconds;
      if (chosen) this.#chosenSeconds = seconds;
      this.#drawMoment();
    };
    this.#scrubber.addEventListener('input', () => {
      const seconds = Number(this.#scrubber.value);
      this.#chosenSeconds = Math.min(seconds, this.#nowSeconds);
      this.#pointedSeconds = undefined;
      this.#drawMoment();
    });
    this.#liveButton.addEventListener('click', () => {
      this.#chosenSeconds = undefined;
      this.#drawMoment();
    });
  }

  /** Another choice of what to replay: everybody starts again. */
  #choose(change: Partial<Choice>): void {
    this.#choice = { ...this.#choice, ...change };
    void this.#start();
  }

  #showAddress(): void {
    history.replaceState(null, '', formatChoice(this.#choice));
  }

  #makePanels(): void {
    for (const panel of this.#panels) panel.dispose();
    this.#panels = this.#choice.players.map((algorithm, place) => {
      const panel: PlayerPanel = new PlayerPanel({
        place,
        algorithm,
        onAlgorithm: (name) => {
          panel.setAlgorithm(name);
          this.#choose({ players: this.#panels.map((one) => one.algorithm) });
        },
        onRemove: () => {
          const players = this.#choice.players.filter((_, other) => other !== place);
          this.#choice = { ...this.#choice, players };
          this.#makePanels();
          void this.#start();
          byId('add-player').focus();
        },
        onFault: (message) => {
          panel.showFault(`Playback failed: ${message}`);
          void this.#heartbeat();
        },
        onEnded: () => this.#playerEnded(),
      });
      return panel;
    });
    for (const panel of this.#panels) panel.isRemovable = this.#panels.length > 1;
    const host = byId('players');
    host.style.setProperty('--players', String(this.#panels.length));
    host.replaceChildren(...this.#panels.map(({ root }) => root));
    byId<HTMLButtonElement>('add-player').disabled = this.#panels.length >= MAX_PLAYERS;
  }

  #addPlayer(): void {
    const { players } = this.#choice;
    const next = COMPETITORS.find(({ name }) => !players.includes(name)) ?? COMPETITORS[0]!;
    this.#choice = { ...this.#choice, players: [...players, next.name] };
    this.#makePanels();
    void this.#start();
  }

  /** Starts all players at once, each over its own copy of the link. */
  async #start(): Promise<void> {
    const start = ++this.#starts;
    this.#showAddress();
    this.#endRun();
    this.#notices.clear('run');
    const { trace: traceName, scenario: scenarioName, startSeconds } = this.#choice;
    const scenario = SCENARIOS[scenarioName]!;
    const trace = this.#traces.find(({ name }) => name === traceName)!;
    try {
      const spec = { trace: traceName, scenario: scenarioName, startSeconds };
      const sessions = await Promise.all(this.#panels.map(() => this.#origin.createSession(spec)));
      // Another choice was made in the meantime.
      if (start !== this.#starts) return this.#forget(sessions);
      const mediaSeconds = scenario.segmentCount * scenario.segmentSeconds;
      const timeline = new Timeline(sessions[0]!.link, mediaSeconds + SLACK_SECONDS);
      const before = this.#run;
      this.#run = { ended: false, timeline, scenario, trace, startSeconds, sessions };
      this.#panels.forEach((panel, i) => {
        panel.play({ session: sessions[i]!, scenario, seed: SEED });
      });
      // Only now does nobody stream from them any more.
      this.#forget(before?.sessions ?? []);
      this.#beginViews();
    } catch (error) {
      if (start !== this.#starts) return;
      if (error instanceof OriginLostError) this.#loseOrigin();
      else {
        const text = `The players cannot start: ${messageOf(error)}.`;
        this.#notices.show('run', {
          kind: 'error',
          text,
          action: { label: 'Try again', run: () => void this.#start() },
        });
      }
    }
  }

  #beginViews(): void {
    const { timeline, scenario } = this.#run!;
    this.#chosenSeconds = undefined;
    this.#pointedSeconds = undefined;
    this.#announcedLeader = undefined;
    const players = this.#panels.map((panel, place) => ({ place, title: panel.title, record: panel.record }));
    const { ladderBps, bufferCapSeconds } = scenario;
    this.#timelineView.begin({ timeline, players, ladderBps, bufferCapSeconds });
    this.#momentView.begin(timeline, players);
    this.#raceView.begin(players, scenario);
    this.#decisionViews = players.map(
      (player) =>
        new DecisionView({
          ...player,
          onMoment: (seconds) => {
            this.#chosenSeconds = seconds;
            this.#pointedSeconds = undefined;
            this.#drawMoment();
          },
        }),
    );
    byId('decisions').replaceChildren(...this.#decisionViews.map(({ root }) => root));
    byId('legend').replaceChildren(
      ...players.map(({ place, title }) => legendEntry(`place-${place}`, 'line', title)),
      legendEntry('', 'capacity', 'link capacity'),
      legendEntry('', 'handover', 'handover'),
      legendEntry('', 'stalled', 'stall'),
    );
    this.#draw();
  }

  /** Everything stays as it is, to be looked at. */
  #stop(): void {
    this.#starts++;
    this.#endRun();
    this.#draw();
  }

  #endRun(): void {
    for (const panel of this.#panels) panel.stop();
    if (this.#run !== undefined) this.#run.ended = true;
  }

  #forget(sessions: readonly OriginSession[]): void {
    // An origin that is gone has forgotten them anyway.
    for (const { id } of sessions) this.#origin.removeSession(id).catch(() => {});
  }

  #playerEnded(): void {
    const run = this.#run;
    if (run === undefined || run.ended) return;
    if (!this.#panels.every(({ record }) => record.endedBy !== undefined)) return;
    this.#endRun();
    this.#draw();
    this.#announce(`All have finished. ${this.#standing()}`);
  }

  get #nowSeconds(): number {
    return Math.max(0, ...this.#panels.map(({ record }) => record.nowSeconds));
  }

  #tick(): void {
    for (const panel of this.#panels) panel.sample();
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const now = performance.now();
    if (now - this.#drawnAtMs < (isCalm ? CALM_DRAW_MS : DRAW_MS) - SAMPLE_MS / 2) return;
    if (this.#run === undefined || this.#run.ended) return;
    this.#drawnAtMs = now;
    this.#draw();
    this.#announceLeader(now);
  }

  #draw(): void {
    const run = this.#run;
    if (run === undefined) return;
    run.timeline.extendTo(this.#nowSeconds);
    for (const panel of this.#panels) panel.draw(!run.ended);
    byId<HTMLButtonElement>('stop').disabled = run.ended;
    this.#drawMoment();
    this.#timelineView.draw();
    this.#raceView.draw();
  }

  /** The moment that is read: pointed at, chosen, or now. */
  #drawMoment(): void {
    if (this.#run === undefined) return;
    const isLive = this.#chosenSeconds === undefined && this.#pointedSeconds === undefined;
    const moment = this.#pointedSeconds ?? this.#chosenSeconds ?? this.#nowSeconds;
    const text = this.#momentView.draw(moment);
    const { from, to } = this.#timelineView.range;
    this.#scrubber.min = String(from);
    this.#scrubber.max = String(to);
    this.#scrubber.value = String(moment);
    this.#scrubber.setAttribute('aria-valuetext', text);
    this.#liveButton.setAttribute('aria-pressed', String(this.#chosenSeconds === undefined));
    this.#timelineView.mark(isLive ? undefined : moment);
    for (const view of this.#decisionViews) view.draw(moment);
    this.#timelineView.forecasts = this.#panels.map(({ record }, place) => ({
      place,
      decision: DecisionView.at(record, moment),
    }));
    if (!isLive) this.#timelineView.draw();
  }

  #standing(): string {
    return this.#raceView
      .standings()
      .map(({ title, qoe }) => `${title} ${decimal(qoe)}`)
      .join(', ');
  }

  #announceLeader(nowMs: number): void {
    if (this.#panels.length < 2 || nowMs - this.#announcedAtMs < ANNOUNCE_MS) return;
    const leader = this.#raceView.standings()[0]?.title;
    if (leader === undefined || leader === this.#announcedLeader) return;
    this.#announcedAtMs = nowMs;
    this.#announcedLeader = leader;
    this.#announce(`${leader} leads. QoE so far: ${this.#standing()}`);
  }

  #announce(text: string): void {
    setText(byId('announcements'), text);
  }

  /** Notices that the origin is gone before the buffers are empty, and that it is back. */
  async #heartbeat(): Promise<void> {
    if (this.#run?.ended === true && !this.#originIsLost) return;
    if (!this.#originIsLost) {
      if (!(await this.#origin.isAlive())) this.#loseOrigin();
      return;
    }
    try {
      // A new one is elsewhere, so ask again; the address bar holds all that was chosen.
      const origin = await OriginClient.find();
      if (await origin.isAlive()) location.reload();
    } catch {
      // Still gone.
    }
  }

  #loseOrigin(): void {
    if (this.#originIsLost) return;
    this.#originIsLost = true;
    this.#notices.show('origin', {
      kind: 'error',
      text:
        `The origin at ${this.#origin.url} no longer answers, so nothing more can be downloaded. ` +
        'Run npm start again; the players start over as soon as it is back.',
      action: { label: 'Reload', run: () => location.reload() },
    });
  }

  #saveResults(): void {
    const run = this.#run;
    if (run === undefined) return;
    const { scenario, trace, startSeconds } = run;
    const sessions = this.#panels.map(({ record, algorithm }) =>
      sessionResult(record, {
        trace: trace.name,
        dataset: trace.dataset,
        group: trace.recordingGroup,
        startSeconds,
        algorithm,
        seed: SEED,
        scenario,
      }),
    );
    const json = resultsOf(sessions, scenario, SEED);
    download(new Blob([json], { type: 'application/json' }), `${this.#fileName()}.json`);
  }

  async #savePicture(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const standings = new Map(this.#raceView.standings().map(({ title, qoe }) => [title, qoe]));
    const picture = await pictureOf({
      title: `${run.trace.name} from ${run.startSeconds} s, ${run.scenario.name}`,
      subtitle: `leo-abr, ${clock(this.#nowSeconds)} played; dashed: handovers of the trace's clock`,
      lanes: this.#timelineView.canvases(),
      players: this.#panels.map(({ title }, place) => ({
        title,
        colour: colour(`player-${place}`),
        note: standings.has(title) ? `QoE so far ${decimal(standings.get(title)!)}` : '',
      })),
      colours: { background: colour('panel'), text: colour('text'), soft: colour('text-soft') },
    });
    download(picture, `${this.#fileName()}.png`);
  }

  #fileName(): string {
    const { trace, scenario, startSeconds } = this.#run!;
    return `leo-abr-${trace.name}-${startSeconds}-${scenario.name}`.replaceAll(/[^\w.-]/g, '_');
  }
}

function scenarioLabel({ name, ladderBps, bufferCapSeconds }: Scenario): string {
  return `${name}: up to ${bitrate(ladderBps.at(-1)!)} Mbit/s, ${bufferCapSeconds} s buffer`;
}

function legendEntry(place: string, kind: string, text: string): HTMLLIElement {
  return element('li', { class: place }, element('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
