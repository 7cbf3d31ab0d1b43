/** The views of a run. All show the same moment: the one pointed at, else the chosen one, else now. */

import { DecisionView } from './decision-view.ts';
import { byId, element, setText } from './dom.ts';
import { decimal } from './format.ts';
import { MomentView } from './moment-view.ts';
import { RaceView } from './race-view.ts';
import { nowSecondsOf, type Run } from './run.ts';
import { TimelineView } from './timeline-view.ts';

export class RunViews {
  readonly timeline = new TimelineView(byId('lanes'));
  readonly #moment = new MomentView(byId<HTMLTableElement>('reading'));
  readonly #race = new RaceView(byId('race'));
  readonly #scrubber = byId<HTMLInputElement>('moment');
  readonly #live = byId<HTMLButtonElement>('live');
  readonly #forecastLegend = legendEntry('', 'forecast', 'forecast, 10 to 90 %');
  #decisions: DecisionView[] = [];
  #run: Run | undefined;
  #chosenSeconds: number | undefined;
  #pointedSeconds: number | undefined;

  constructor() {
    this.timeline.onPoint = (seconds, chosen) => {
      this.#pointedSeconds = seconds;
      if (chosen) this.#chosenSeconds = seconds;
      this.#drawMoment();
    };
    this.#scrubber.addEventListener('input', () => this.#choose(Number(this.#scrubber.value)));
    this.#live.addEventListener('click', () => this.#choose(undefined));
  }

  /** Replaces the run, over several tasks; call draw() to show it. */
  async begin(run: Run): Promise<void> {
    this.#run = run;
    this.#chosenSeconds = undefined;
    this.#pointedSeconds = undefined;
    this.#moment.begin(run);
    this.#race.begin(run);
    const onMoment = (seconds: number) => this.#choose(seconds);
    this.#decisions = run.players.map((player) => new DecisionView(player, onMoment));
    byId('decisions').replaceChildren(...this.#decisions.map(({ root }) => root));
    byId('legend').replaceChildren(
      ...run.players.map(({ place, title }) => legendEntry(`place-${place}`, 'line', title)),
      legendEntry('', 'capacity', run.link === 'shared' ? 'capacity of the shared link' : 'link capacity'),
      this.#forecastLegend,
      ...(run.scenario.live
        ? [legendEntry('', 'target', 'target latency'), legendEntry('', 'edge', 'below the encoder’s edge')]
        : []),
      ...(run.timeline.hasClock ? [legendEntry('', 'handover', 'handover')] : []),
      legendEntry('', 'stalled', 'stall'),
    );
    await this.timeline.begin(run);
  }

  draw(): void {
    if (this.#run === undefined) return;
    this.#drawMoment();
    this.timeline.draw();
    this.#race.draw();
    this.#announce(this.#run);
  }

  #choose(seconds: number | undefined): void {
    if (this.#run === undefined) return;
    this.#chosenSeconds = seconds === undefined ? undefined : Math.min(seconds, nowSecondsOf(this.#run));
    this.#pointedSeconds = undefined;
    this.#drawMoment();
  }

  #drawMoment(): void {
    const run = this.#run;
    if (run === undefined) return;
    const isLive = this.#chosenSeconds === undefined && this.#pointedSeconds === undefined;
    const moment = this.#pointedSeconds ?? this.#chosenSeconds ?? nowSecondsOf(run);
    const text = this.#moment.draw(moment);
    this.#scrubber.max = String(run.timeline.endSeconds);
    this.#scrubber.value = String(moment);
    this.#scrubber.setAttribute('aria-valuetext', text);
    this.#live.setAttribute('aria-pressed', String(this.#chosenSeconds === undefined));
    for (const view of this.#decisions) view.draw(moment);
    this.timeline.mark(isLive ? undefined : moment);
    this.timeline.forecasts = run.players.map(({ place, record }) => ({
      place,
      decision: DecisionView.at(record, moment),
    }));
    this.#forecastLegend.hidden = !this.timeline.hasForecast;
    if (!isLive) this.timeline.draw();
  }

  /** Announces the result to screen readers. */
  #announce({ ended, players }: Run): void {
    const standings = this.#race.standings();
    if (!ended || standings.length === 0) return;
    const all = standings.map(({ title, qoe }) => `${title} ${decimal(qoe)}`).join(', ');
    const isOver = players.every(({ record }) => record.endedBy === 'end');
    setText(byId('announcements'), `${isOver ? 'All have finished' : 'Stopped'}. QoE: ${all}`);
  }
}

function legendEntry(place: string, kind: string, text: string): HTMLLIElement {
  return element('li', { class: place }, element('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text);
}
