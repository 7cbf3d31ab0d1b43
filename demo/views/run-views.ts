/** The views of a run. All show the same moment: the chosen one, else now. */

import { byId, element, setText } from '../dom.ts';
import { decimal } from '../format.ts';
import { type DemoRun, nowSecondsOf } from '../run/run.ts';
import { qoeSoFar } from '../run/session-record.ts';
import { DecisionView } from './decision-view.ts';
import { MomentView } from './moment-view.ts';
import { storyOf } from './story.ts';
import { TimelineView } from './timeline-view.ts';
import { drawTypical } from './typical-view.ts';

export class RunViews {
  readonly timeline = new TimelineView(byId('lanes'), (seconds) => this.#choose(seconds));
  readonly #scrubber = byId<HTMLInputElement>('moment');
  readonly #live = byId<HTMLButtonElement>('live');
  readonly #whole = byId<HTMLButtonElement>('whole');
  #shown: { run: DemoRun; moment: MomentView; decisions: DecisionView[] } | undefined;
  #chosenSeconds: number | undefined;

  constructor() {
    this.#scrubber.addEventListener('input', () => this.#choose(Number(this.#scrubber.value)));
    this.#live.addEventListener('click', () => this.#choose(undefined));
    this.#whole.addEventListener('click', () => {
      this.#whole.setAttribute('aria-pressed', String(!this.#isWhole));
      this.#choose(this.#chosenSeconds);
    });
  }

  /** Replaces the run, over several tasks; call draw() to show it. */
  async begin(run: DemoRun): Promise<void> {
    this.#chosenSeconds = undefined;
    const decisions = run.players.map((player) => new DecisionView(player));
    byId('decisions').replaceChildren(...decisions.map(({ root }) => root));
    this.#shown = { run, moment: new MomentView(byId<HTMLTableElement>('reading'), run), decisions };
    byId('legend').replaceChildren(
      ...run.players.map(({ place, title }) => legendEntry(`place-${place}`, 'line', title)),
      legendEntry('', 'capacity', 'link capacity'),
      legendEntry('', 'forecast', 'forecast, 10 to 90 %'),
      ...(run.scenario.live
        ? [legendEntry('', 'target', 'target latency'), legendEntry('', 'edge', 'below the encoder’s edge')]
        : []),
      ...(run.timeline.hasClock ? [legendEntry('', 'handover', 'handover')] : []),
      legendEntry('', 'stalled', 'stall'),
    );
    drawTypical(run);
    await this.timeline.begin(run);
  }

  draw(): void {
    if (this.#shown === undefined) return;
    this.#drawMoment();
    this.timeline.draw();
    const { run } = this.#shown;
    const scores = run.players.flatMap(({ title, record }) => {
      const qoe = qoeSoFar(record, run.scenario);
      return qoe === undefined ? [] : [{ title, qoe }];
    });
    if (!run.ended || scores.length === 0) return;
    // For screen readers.
    const all = scores.sort((a, b) => b.qoe - a.qoe).map(({ title, qoe }) => `${title} ${decimal(qoe)}`);
    const isOver = run.players.every(({ record }) => record.endedBy === 'end');
    setText(byId('announcements'), `${isOver ? 'All have finished' : 'Stopped'}. QoE: ${all.join(', ')}`);
  }

  get #isWhole(): boolean {
    return this.#whole.getAttribute('aria-pressed') === 'true';
  }

  /** The part of the session in view: it follows the newest moment, and stands still while it has the chosen one. */
  #windowAt(moment: number): TimelineView['window'] {
    const { endSeconds } = this.#shown!.run.timeline;
    const { window } = this.timeline;
    const isWide = window.toSeconds - window.fromSeconds > WINDOW_SECONDS;
    const isIn = !isWide && moment >= window.fromSeconds && moment <= window.toSeconds;
    const fromSeconds = Math.max(0, Math.ceil(moment + AHEAD_SECONDS - WINDOW_SECONDS));
    if (this.#isWhole) this.timeline.window = { fromSeconds: 0, toSeconds: endSeconds };
    else if (this.#chosenSeconds === undefined || !isIn) {
      this.timeline.window = { fromSeconds, toSeconds: fromSeconds + WINDOW_SECONDS };
    }
    return this.timeline.window;
  }

  #choose(seconds: number | undefined): void {
    if (this.#shown === undefined) return;
    this.#chosenSeconds = seconds === undefined ? undefined : Math.min(seconds, nowSecondsOf(this.#shown.run));
    this.#drawMoment();
    this.timeline.draw();
  }

  #drawMoment(): void {
    if (this.#shown === undefined) return;
    const { run, moment: reading, decisions } = this.#shown;
    const moment = this.#chosenSeconds ?? nowSecondsOf(run);
    const { fromSeconds, toSeconds } = this.#windowAt(moment);
    this.#scrubber.min = String(fromSeconds);
    this.#scrubber.max = String(toSeconds);
    this.#scrubber.value = String(moment);
    this.#scrubber.setAttribute('aria-valuetext', reading.draw(moment));
    this.#live.setAttribute('aria-pressed', String(this.#chosenSeconds === undefined));
    for (const view of decisions) view.draw(moment);
    setText(byId('story'), storyOf(run));
    this.timeline.markedSeconds = this.#chosenSeconds;
    this.timeline.forecasts = run.players.map(({ place, record }) => ({
      place,
      forecast: DecisionView.at(record, moment)?.forecast,
    }));
  }
}

/** The window that follows the session: its length, and how much of it is ahead of now. */
const WINDOW_SECONDS = 30;
const AHEAD_SECONDS = 10;

function legendEntry(place: string, kind: string, text: string): HTMLLIElement {
  return element('li', { class: place }, element('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text);
}
