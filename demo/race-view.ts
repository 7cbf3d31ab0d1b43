/** A bar per player: QoE so far and its parts. */

import { QOE_UNIT_SECONDS } from '../abr/qoe.ts';
import type { LiveMetrics } from '../replay/results.ts';
import { byId, element, setText, swatch } from './dom.ts';
import { decimal, megabits, seconds } from './format.ts';
import type { Run, RunPlayer } from './run.ts';
import { liveSoFar, qoeSoFar, type SessionRecord, shownTotals } from './session-record.ts';

const NOTE =
  'In Mbit/s of undisturbed media: the mean bitrate on screen, less the cost of switches and of waiting. A full bar is ' +
  'the top bitrate without a pause.';
const LIVE_NOTE =
  'LoL+’s QoE in Mbit/s per 4 s of media: the bits on screen, less the cost of switches, stalls, latency and of ' +
  'playing faster or slower than normal. A full bar is the top bitrate without any of them.';

export class RaceView {
  readonly #run: Run;
  readonly #rows: ReturnType<typeof rowOf>[];

  constructor(host: HTMLElement, run: Run) {
    this.#run = run;
    this.#rows = run.players.map(rowOf);
    host.replaceChildren(...this.#rows.map(({ root }) => root));
    const isLive = run.scenario.live !== undefined;
    setText(byId('race-note'), isLive ? LIVE_NOTE : NOTE);
    setText(byId('race-stalls'), isLive ? 'lost to stalls' : 'lost to stalls and startup');
    byId('race-lateness').hidden = !isLive;
  }

  draw(): void {
    const { players, scenario } = this.#run;
    const best = this.standings()[0]?.qoe;
    for (const [i, { record }] of players.entries()) {
      const row = this.#rows[i]!;
      const live = liveSoFar(record, scenario);
      setText(row.details, detailsOf(record, live).join(' · '));
      const breakdown = qoeSoFar(record, scenario);
      if (breakdown === undefined) continue;
      const { qoe, quality, stall, switches, lateness } = breakdown;
      row.root.toggleAttribute('data-leads', players.length > 1 && qoe === best);
      setText(row.value, decimal(qoe));
      const losses = [`${decimal(switches)} for switches`, `${decimal(stall)} for ${live ? 'stalls' : 'waiting'}`];
      if (lateness !== undefined) losses.push(`${decimal(lateness)} for latency and rate`);
      setText(row.formula, [`${decimal(quality)} for bitrate`, ...losses].join(' − '));
      const top = (scenario.ladderBps.at(-1)! / 1e6) * (live ? QOE_UNIT_SECONDS : 1);
      const share = (value: number) => `${(100 * Math.min(1, Math.max(0, value / top))).toFixed(2)}%`;
      // The losses take the end of the bitrate's bar; losses beyond its length cannot be shown.
      row.parts.kept.style.width = share(qoe);
      row.parts.lateness.style.width = share(Math.min(lateness ?? 0, Math.max(0, quality - stall - switches)));
      row.parts.switches.style.width = share(Math.min(switches, Math.max(0, quality - stall)));
      row.parts.stall.style.width = share(Math.min(stall, quality));
    }
  }

  /** The players by QoE, best first; without players that have none yet. */
  standings(): { title: string; qoe: number }[] {
    const { players, scenario } = this.#run;
    const known = players.flatMap(({ title, record }) => {
      const qoe = qoeSoFar(record, scenario)?.qoe;
      return qoe === undefined ? [] : [{ title, qoe }];
    });
    return known.sort((a, b) => b.qoe - a.qoe);
  }
}

function detailsOf(record: SessionRecord, live: LiveMetrics | undefined): string[] {
  const { switches, meanBitrateBps } = shownTotals(record);
  const stalls = record.stalls.length;
  const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  return [
    `mean bitrate ${meanBitrateBps === undefined ? '–' : `${megabits(meanBitrateBps)} Mbit/s`}`,
    stalls === 0 ? 'no stalls' : `${counted(stalls, 'stall', 'stalls')}, ${seconds(record.stallSeconds)}`,
    counted(switches, 'switch', 'switches'),
    `first picture after ${seconds(record.startupSoFarSeconds)}`,
    ...(live ? [`latency ${seconds(live.latencySecondsP95, 2)} in the worst 5 % of the time`] : []),
    ...(live?.jumps ? [`${counted(live.jumps, 'jump', 'jumps')} to the live edge`] : []),
  ];
}

function rowOf({ place, title }: RunPlayer) {
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
