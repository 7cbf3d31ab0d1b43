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
  readonly #scrubber = byId<HTMLInputElement>('moment');
  readonly #live = byId<HTMLButtonElement>('live');
  readonly #forecastLegend = legendEntry('', 'forecast', 'forecast, 10 to 90 %');
  #shown: { run: Run; moment: MomentView; race: RaceView; decisions: DecisionView[] } | undefined;
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
    this.#chosenSeconds = undefined;
    this.#pointedSeconds = undefined;
    const decisions = run.players.map((player) => new DecisionView(player, (seconds) => this.#choose(seconds)));
    byId('decisions').replaceChildren(...decisions.map(({ root }) => root));
    const moment = new MomentView(byId<HTMLTableElement>('reading'), run);
    this.#shown = { run, moment, race: new RaceView(byId('race'), run), decisions };
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
    if (this.#shown === undefined) return;
    this.#drawMoment();
    this.timeline.draw();
    const { race, run } = this.#shown;
    race.draw();
    const standings = race.standings();
    if (!run.ended || standings.length === 0) return;
    // For screen readers.
    const all = standings.map(({ title, qoe }) => `${title} ${decimal(qoe)}`).join(', ');
    const isOver = run.players.every(({ record }) => record.endedBy === 'end');
    setText(byId('announcements'), `${isOver ? 'All have finished' : 'Stopped'}. QoE: ${all}`);
  }

  #choose(seconds: number | undefined): void {
    if (this.#shown === undefined) return;
    this.#chosenSeconds = seconds === undefined ? undefined : Math.min(seconds, nowSecondsOf(this.#shown.run));
    this.#pointedSeconds = undefined;
    this.#drawMoment();
  }

  #drawMoment(): void {
    if (this.#shown === undefined) return;
    const { run, moment: reading, decisions } = this.#shown;
    const isLive = this.#chosenSeconds === undefined && this.#pointedSeconds === undefined;
    const moment = this.#pointedSeconds ?? this.#chosenSeconds ?? nowSecondsOf(run);
    this.#scrubber.max = String(run.timeline.endSeconds);
    this.#scrubber.value = String(moment);
    this.#scrubber.setAttribute('aria-valuetext', reading.draw(moment));
    this.#live.setAttribute('aria-pressed', String(this.#chosenSeconds === undefined));
    for (const view of decisions) view.draw(moment);
    this.timeline.mark(isLive ? undefined : moment);
    this.timeline.forecasts = run.players.map(({ place, record }) => ({
      place,
      decision: DecisionView.at(record, moment),
    }));
    this.#forecastLegend.hidden = !this.timeline.hasForecast;
    if (!isLive) this.timeline.draw();
  }
}

function legendEntry(place: string, kind: string, text: string): HTMLLIElement {
  return element('li', { class: place }, element('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text);
}
