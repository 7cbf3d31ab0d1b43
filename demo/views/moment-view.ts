/** The table with all series at one moment, and the same as a sentence for screen readers. */

import { element, setText, swatch } from '../dom.ts';
import { bitrate, clock, decimal, megabits, seconds, utcClock } from '../format.ts';
import type { DemoRun } from '../run/run.ts';
import type { SessionRecord, StallNote } from '../run/session-record.ts';
import type { Series, Track } from '../run/timeline-model.ts';

/** A column of numbers: a series of the players, and its values as text. */
interface SeriesColumn {
  title: string;
  series: keyof Track;
  text: (value: number) => string;
  /** Shows the newest value of the last 2 s, because samples are a little sparser than the grid. */
  isSampled?: true;
}

const REQUESTED: SeriesColumn = { title: 'Requested', series: 'bitrateBps', text: (bps) => `${bitrate(bps)} Mbit/s` };
const MEASURED: SeriesColumn = { title: 'Measured', series: 'throughputBps', text: (bps) => `${megabits(bps)} Mbit/s` };
const BUFFER: SeriesColumn = { title: 'Buffer', series: 'bufferSeconds', text: seconds, isSampled: true };
const fine = (value: number) => seconds(value, 2);
const LATENCY: SeriesColumn = { title: 'Latency', series: 'latencySeconds', text: fine, isSampled: true };
const RATE: SeriesColumn = {
  title: 'Rate',
  series: 'playbackRate',
  text: (value) => decimal(value, 2),
  isSampled: true,
};
const FINE_BUFFER: SeriesColumn = { ...BUFFER, text: fine };

export class MomentView {
  readonly #run: DemoRun;
  readonly #caption = element('caption', {}, 'At this moment');
  readonly #columns: readonly SeriesColumn[];
  /** By player: a cell per column, and one of the state. */
  readonly #cells: HTMLElement[][];

  constructor(table: HTMLTableElement, run: DemoRun) {
    this.#run = run;
    this.#columns = run.scenario.live ? [REQUESTED, LATENCY, RATE, FINE_BUFFER] : [REQUESTED, MEASURED, BUFFER];
    const titles = ['Player', ...this.#columns.map(({ title }) => title), 'State'];
    const head = element('tr', {}, ...titles.map((text) => element('th', { scope: 'col' }, text)));
    this.#cells = run.players.map(() => titles.slice(1).map(() => element('td', {}, '–')));
    const rows = run.players.map(({ place, title }, player) => {
      const name = element('th', { scope: 'row' }, swatch(), title);
      return element('tr', { class: `place-${place}` }, name, ...this.#cells[player]!);
    });
    table.replaceChildren(this.#caption, element('thead', {}, head), element('tbody', {}, ...rows));
  }

  /** Shows all series at a second of the session; returns the same as a sentence. */
  draw(momentSeconds: number): string {
    const { timeline, players } = this.#run;
    const link = `link ${megabits(timeline.capacityBps[timeline.indexAt(momentSeconds)] ?? 0)} Mbit/s`;
    const utc = timeline.hasClock ? ` (${utcClock(timeline.utcMsAt(momentSeconds))} UTC of the trace)` : '';
    setText(this.#caption, `At ${clock(momentSeconds)}${utc}: ${link}`);
    const sentences = players.map(({ title, record }, player) => {
      const track = timeline.track(record);
      // Sessions start some milliseconds apart: a player may not have reached the newest moment.
      const i = timeline.indexAt(Math.min(momentSeconds, record.nowSeconds));
      const values = this.#columns.map(({ series, text, isSampled }) => {
        const value = isSampled ? latestAt(track[series], i) : track[series][i];
        return value === null || value === undefined ? '–' : text(value);
      });
      const state = stateAt(record, momentSeconds);
      const cells = this.#cells[player]!;
      for (const [column, text] of [...values, state].entries()) setText(cells[column]!, text);
      cells.at(-1)!.toggleAttribute('data-stalled', state === 'stalled');
      const told = this.#columns.map(({ title: series }, column) => `${series.toLowerCase()} ${values[column]}`);
      return `${title} ${state}, ${told.join(', ')}`;
    });
    return `${clock(momentSeconds)}: ${[link, ...sentences].join('; ')}`;
  }
}

/** The newest value in the 2 s up to a grid point. */
function latestAt(series: Series, index: number): number | null | undefined {
  return series.slice(Math.max(0, index - 7), index + 1).findLast((value) => value !== null);
}

function stateAt(record: SessionRecord, momentSeconds: number): string {
  if (record.startupSeconds === undefined || momentSeconds < record.startupSeconds) return 'starting';
  const isOver = ({ endSeconds = Number.POSITIVE_INFINITY }: StallNote) => momentSeconds >= endSeconds;
  if (record.stalls.some((stall) => momentSeconds >= stall.startSeconds && !isOver(stall))) return 'stalled';
  return record.endedBy === 'end' && momentSeconds >= record.nowSeconds ? 'finished' : 'playing';
}
