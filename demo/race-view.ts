/** A bar per player: QoE so far and its parts. */

import { QOE_UNIT_SECONDS } from '../abr/qoe.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { byId, element, setText, swatch } from './dom.ts';
import { decimal, megabits, seconds } from './format.ts';
import type { Run, RunPlayer } from './run.ts';
import { liveSoFar, qoeSoFar, shownTotals } from './session-record.ts';

const NOTE =
  'In Mbit/s of undisturbed media: the mean bitrate on screen, less the cost of switches and of waiting. A full bar is ' +
  'the top bitrate without a pause.';
const LIVE_NOTE =
  'LoL+’s QoE in Mbit/s per 4 s of media: the bits on screen, less the cost of switches, stalls, latency and of ' +
  'playing faster or slower than normal. A full bar is the top bitrate without any of them.';

export class RaceView {
  readonly #host: HTMLElement;
  #rows: ReturnType<typeof rowOf>[] = [];
  #racers: readonly RunPlayer[] = [];
  #scenario: Scenario | undefined;

  constructor(host: HTMLElement) {
    this.#host = host;
  }

  /** Replaces the run; call draw() to show it. */
  begin({ players, scenario }: Run): void {
    this.#racers = players;
    this.#scenario = scenario;
    this.#rows = players.map(({ place, title }) => rowOf(place, title));
    this.#host.replaceChildren(...this.#rows.map(({ root }) => root));
    const { live } = scenario;
    setText(byId('race-note'), live ? LIVE_NOTE : NOTE);
    setText(byId('race-stalls'), live ? 'lost to stalls' : 'lost to stalls and startup');
    byId('race-lateness').hidden = !live;
  }

  draw(): void {
    const scenario = this.#scenario;
    if (scenario === undefined) return;
    const breakdowns = this.#racers.map(({ record }) => qoeSoFar(record, scenario));
    const top = (scenario.ladderBps.at(-1)! / 1e6) * (scenario.live ? QOE_UNIT_SECONDS : 1);
    const best = Math.max(...breakdowns.map((one) => one?.qoe ?? Number.NEGATIVE_INFINITY));
    this.#racers.forEach(({ record }, i) => {
      const row = this.#rows[i]!;
      const breakdown = breakdowns[i];
      const { switches, meanBitrateBps } = shownTotals(record);
      const stalls = record.stalls.length;
      const details = [
        `mean bitrate ${meanBitrateBps === undefined ? '–' : `${megabits(meanBitrateBps)} Mbit/s`}`,
        stalls === 0 ? 'no stalls' : `${stalls} ${stalls === 1 ? 'stall' : 'stalls'}, ${seconds(record.stallSeconds)}`,
        `${switches} ${switches === 1 ? 'switch' : 'switches'}`,
        `first picture after ${seconds(record.startupSoFarSeconds)}`,
      ];
      const live = liveSoFar(record, scenario);
      if (live) {
        const { jumps, latencySecondsP95 } = live;
        details.push(`latency ${seconds(latencySecondsP95, 2)} in the worst 5 % of the time`);
        if (jumps > 0) details.push(`${jumps} ${jumps === 1 ? 'jump' : 'jumps'} to the live edge`);
      }
      setText(row.details, details.join(' · '));
      if (breakdown === undefined) return;
      const { qoe, quality, stall, switches: switching, lateness } = breakdown;
      row.root.toggleAttribute('data-leads', this.#racers.length > 1 && qoe === best);
      setText(row.value, decimal(qoe));
      const losses = [`${decimal(switching)} for switches`, `${decimal(stall)} for ${live ? 'stalls' : 'waiting'}`];
      if (lateness !== undefined) losses.push(`${decimal(lateness)} for latency and rate`);
      setText(row.formula, [`${decimal(quality)} for bitrate`, ...losses].join(' − '));
      const share = (value: number) => `${(100 * Math.min(1, Math.max(0, value / top))).toFixed(2)}%`;
      // The losses take the end of the bitrate's bar; losses beyond its length cannot be shown.
      row.parts.kept.style.width = share(qoe);
      row.parts.lateness.style.width = share(Math.min(lateness ?? 0, Math.max(0, quality - stall - switching)));
      row.parts.switches.style.width = share(Math.min(switching, Math.max(0, quality - stall)));
      row.parts.stall.style.width = share(Math.min(stall, quality));
    });
  }

  /** The players by QoE, best first; without players that have none yet. */
  standings(): { place: number; title: string; qoe: number }[] {
    return this.#racers
      .flatMap(({ place, title, record }) => {
        const qoe = qoeSoFar(record, this.#scenario!)?.qoe;
        return qoe === undefined ? [] : [{ place, title, qoe }];
      })
      .sort((a, b) => b.qoe - a.qoe);
  }
}

function rowOf(place: number, title: string) {
  const kept = element('span', { class: 'kept' });
  const lateness = element('span', { class: 'lost-lateness' });
  const switches = element('span', { class: 'lost-switches' });
  const stall = element('span', { class: 'lost-stalls' });
  const bar = element('span', { class: 'bar', 'aria-hidden': 'true' }, kept, lateness, switches, stall);
  const value = element('strong', { class: 'value' }, '–');
  const formula = element('span', { class: 'formula' });
  const details = element('span', { class: 'details' });
  const name = element('span', { class: 'name' }, swatch(), title);
  const notes = element('span', { class: 'notes' }, formula, details);
  const root = element('li', { class: `racer place-${place}` }, name, value, bar, notes);
  return { root, value, parts: { kept, lateness, switches, stall }, formula, details };
}
