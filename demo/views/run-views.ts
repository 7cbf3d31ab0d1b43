/** The views of a run. All show the same moment: the viewer's choice, or else the current moment. */

import { sceneOf } from '../choice/choice.ts';
import { byId, element, setText, styleOfPlace } from '../dom.ts';
import { bitrate, clock, megabits, seconds } from '../format.ts';
import { type DemoRun, nameIn, nowSecondsOf } from '../run/run.ts';
import type { SessionRecord } from '../run/session-record.ts';
import { DecisionView, inForce } from './decision-view.ts';
import { newsOf, storyOf } from './story.ts';
import { TimelineView } from './timeline-view.ts';

/** Length of the window, in seconds. It grows with the session from the first length in steps, then follows it. */
const WINDOW_SECONDS = 60;
const FIRST_SECONDS = 30;
const STEP_SECONDS = 10;

const MEASURE_TEXTS = { data: 'data', stalls: 'frozen time', perceived: 'QoE' };

export class RunViews {
  readonly timeline = new TimelineView(byId('lanes'), (seconds) => this._choose(seconds));
  private readonly _scrubber = byId<HTMLInputElement>('moment');
  private readonly _live = byId<HTMLButtonElement>('live');
  private _shown: { run: DemoRun; decisions: DecisionView[]; about: string } | undefined;
  private _chosenSeconds: number | undefined;

  constructor() {
    this._scrubber.addEventListener('input', () => this._choose(Number(this._scrubber.value)));
    this._live.addEventListener('click', () => {
      this._choose(undefined);
      this._scrubber.focus();
    });
  }

  /** Replaces the run in several tasks. Then call draw() to show it. */
  async begin(run: DemoRun): Promise<void> {
    this._chosenSeconds = undefined;
    const decisions = run.players.map((player) => new DecisionView(nameIn(run, player), player));
    byId('decisions').replaceChildren(...decisions.map(({ root }) => root));
    byId('legend').replaceChildren(
      ...run.players.map(({ place, title }) => legendEntry('line', `${place + 1} ${title}`, styleOfPlace(place))),
      ...(run.timeline.hasClock ? [legendEntry('handover', 'satellite may change')] : []),
    );
    this._shown = { run, decisions, about: this._introduce(run) };
    await this.timeline.begin(run);
  }

  draw(): void {
    if (this._shown === undefined) return;
    const { run } = this._shown;
    this._drawMoment();
    this.timeline.draw();
    // Screen readers announce the result.
    if (run.ended) setText(byId('announcements'), storyOf(run));
  }

  /** Returns what is streamed, and shows whether its start is typical. */
  private _introduce({ trace, scenario, startSeconds, isShared }: DemoRun): string {
    const scene = sceneOf({ trace: trace.name, scenario: scenario.name, startSeconds, isShared });
    byId('typical').hidden = scene === undefined;
    if (scene === undefined) return `${scenario.live ? 'A live stream' : 'A film'} over the link ${trace.name}.`;
    const { starts, rival, own, rivalsAlone } = scene.typical;
    const meanText = ({ stallSeconds, quality, gigabytesPerHour }: typeof own) =>
      `freezes for ${seconds(stallSeconds)} on average, at a quality of ${quality} and ${gigabytesPerHour} GB per hour`;
    setText(
      byId('typical-text'),
      `Yes, for this link: of its ${starts} starts, this one is near the median by how much the players differ in ` +
        `${MEASURE_TEXTS[scene.by]}. If all starts are simulated, the first minute with dash.js’s rule ` +
        `${meanText(rival)}; with leo-abr it ${meanText(own)}. ` +
        (rivalsAlone ? `If all four have dash.js’s rule, it ${meanText(rivalsAlone)}. ` : '') +
        'Other links differ.',
    );
    return scene.about;
  }

  /** Returns the part of the session in view. It follows the newest moment, or stays while it has the chosen moment. */
  private _windowAt(moment: number): TimelineView['window'] {
    const { window } = this.timeline;
    const isIn = moment >= window.fromSeconds && moment <= window.toSeconds;
    if (this._chosenSeconds === undefined || !isIn) {
      const toSeconds = Math.max(FIRST_SECONDS, STEP_SECONDS * Math.ceil(moment / STEP_SECONDS + 0.5));
      this.timeline.window = { fromSeconds: Math.max(0, toSeconds - WINDOW_SECONDS), toSeconds };
    }
    return this.timeline.window;
  }

  private _choose(seconds: number | undefined): void {
    if (this._shown === undefined) return;
    this._chosenSeconds = seconds === undefined ? undefined : Math.min(seconds, nowSecondsOf(this._shown.run));
    this._drawMoment();
    this.timeline.draw();
  }

  private _drawMoment(): void {
    if (this._shown === undefined) return;
    const { run, decisions, about } = this._shown;
    const moment = this._chosenSeconds ?? nowSecondsOf(run);
    const { fromSeconds, toSeconds } = this._windowAt(moment);
    this._scrubber.min = String(fromSeconds);
    this._scrubber.max = String(toSeconds);
    this._scrubber.value = String(moment);
    const text = momentText(run, moment);
    this._scrubber.setAttribute('aria-valuetext', text);
    setText(byId('reading'), text);
    this._live.hidden = this._chosenSeconds === undefined;
    for (const view of decisions) view.draw(moment);
    // No line ends inside a name.
    setText(byId('story'), storyOf(run).replaceAll('-', '\u2011'));
    setText(byId('news'), newsOf(run) ?? about);
    this.timeline.markedSeconds = this._chosenSeconds;
    this.timeline.forecasts = run.players.map(({ place, record }) => {
      return { place, forecast: inForce(record.decisions, moment)?.forecast };
    });
  }
}

/** Describes the link and the players at a moment. */
function momentText(run: DemoRun, moment: number): string {
  const { timeline, players } = run;
  const link = `link ${megabits(timeline.capacityBps[timeline.indexAt(moment)] ?? 0)} Mbit/s`;
  const states = players.map((player) => {
    const { record } = player;
    const shown = record.samples.findLast(({ atSeconds }) => atSeconds <= moment)?.shownBitrateBps;
    const state = stateAt(record, moment);
    return `${nameIn(run, player)} ${state}${shown === undefined ? '' : `, ${bitrate(shown)} Mbit/s on screen`}`;
  });
  return `${clock(moment)}: ${[link, ...states].join('; ')}`;
}

function stateAt({ startupSoFarSeconds, stallsSoFar }: SessionRecord, moment: number): string {
  if (moment < startupSoFarSeconds) return 'starting';
  const isFrozen = stallsSoFar.some(({ startSeconds, endSeconds }) => moment >= startSeconds && moment < endSeconds);
  return isFrozen ? 'frozen' : 'playing';
}

function legendEntry(kind: string, text: string, style?: string): HTMLLIElement {
  return element('li', { style }, element('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text);
}
