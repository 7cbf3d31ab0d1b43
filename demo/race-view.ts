/** QoE so far, with its parts, a bar per player. */

import type { Scenario } from '../replay/scenarios.ts';
import { element, setText } from './dom.ts';
import { decimal, megabits, seconds } from './format.ts';
import type { Run, RunPlayer } from './run.ts';
import { qoeSoFar, shownTotals } from './session-record.ts';

interface Row {
  root: HTMLElement;
  value: HTMLElement;
  bar: HTMLElement;
  parts: Record<'kept' | 'switches' | 'stall', HTMLElement>;
  formula: HTMLElement;
  details: HTMLElement;
}

export class RaceView {
  readonly #host: HTMLElement;
  #rows: Row[] = [];
  #racers: readonly RunPlayer[] = [];
  #scenario: Scenario | undefined;

  constructor(host: HTMLElement) {
    this.#host = host;
  }

  /** Takes another run; draw() shows it. */
  begin({ players, scenario }: Run): void {
    this.#racers = players;
    this.#scenario = scenario;
    this.#rows = players.map(({ place, title }) => rowOf(place, title));
    this.#host.replaceChildren(...this.#rows.map(({ root }) => root));
  }

  draw(): void {
    const scenario = this.#scenario;
    if (scenario === undefined) return;
    const breakdowns = this.#racers.map(({ record }) => qoeSoFar(record, scenario));
    const top = scenario.ladderBps.at(-1)! / 1e6;
    const best = Math.max(...breakdowns.map((one) => one?.qoe ?? Number.NEGATIVE_INFINITY));
    this.#racers.forEach(({ record }, i) => {
      const row = this.#rows[i]!;
      const breakdown = breakdowns[i];
      const { switches, meanBitrateBps } = shownTotals(record);
      const stalls = record.stalls.length;
      setText(
        row.details,
        [
          `mean bitrate ${meanBitrateBps === undefined ? '–' : `${megabits(meanBitrateBps)} Mbit/s`}`,
          stalls === 0
            ? 'no stalls'
            : `${stalls} ${stalls === 1 ? 'stall' : 'stalls'}, ${seconds(record.stallSeconds)}`,
          `${switches} ${switches === 1 ? 'switch' : 'switches'}`,
          `first picture after ${seconds(record.startupSoFarSeconds)}`,
        ].join(' · '),
      );
      if (breakdown === undefined) return;
      const { qoe, quality, stall, switches: switching } = breakdown;
      row.root.toggleAttribute('data-leads', this.#racers.length > 1 && qoe === best);
      setText(row.value, decimal(qoe));
      setText(
        row.formula,
        `${decimal(quality)} for bitrate − ${decimal(switching)} for switches − ${decimal(stall)} for waiting`,
      );
      const share = (value: number) => `${(100 * Math.min(1, Math.max(0, value / top))).toFixed(2)}%`;
      // What is lost lies at the end of what the bitrate brought; more than that cannot be shown.
      row.parts.kept.style.width = share(qoe);
      row.parts.switches.style.width = share(Math.min(switching, Math.max(0, quality - stall)));
      row.parts.stall.style.width = share(Math.min(stall, quality));
    });
  }

  /** Who has what QoE, the best first; without those of whom there is nothing yet. */
  standings(): { place: number; title: string; qoe: number }[] {
    const scenario = this.#scenario;
    if (scenario === undefined) return [];
    return this.#racers
      .map(({ place, title, record }) => ({ place, title, qoe: qoeSoFar(record, scenario)?.qoe }))
      .filter((one): one is { place: number; title: string; qoe: number } => one.qoe !== undefined)
      .sort((a, b) => b.qoe - a.qoe);
  }
}

function rowOf(place: number, title: string): Row {
  const kept = element('span', { class: 'kept' });
  const switches = element('span', { class: 'lost-switches' });
  const stall = element('span', { class: 'lost-stalls' });
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' }, kept, switches, stall);
  const value = element('strong', { class: 'value' }, '–');
  const formula = element('span', { class: 'formula' });
  const details = element('span', { class: 'details' });
  const name = element('span', { class: 'name' }, element('span', { class: 'swatch', 'aria-hidden': 'true' }), title);
  const root = element(
    'li',
    { class: `racer place-${place}` },
    name,
    value,
    bar,
    element('span', { class: 'notes' }, formula, details),
  );
  return { root, value, bar, parts: { kept, switches, stall }, formula, details };
}
