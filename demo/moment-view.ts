/** The table with all series at one moment, and the same as a sentence for screen readers. */

import { element, setText, swatch } from './dom.ts';
import { bitrate, clock, decimal, megabits, seconds, utcClock } from './format.ts';
import type { Run, RunPlayer } from './run.ts';
import type { SessionRecord } from './session-record.ts';
import type { Series, Timeline, Track } from './timeline-model.ts';

/** A column of numbers: a series of the players, and its values as text. */
interface Column {
  title: string;
  series: keyof Track;
  text: (value: number) => string;
  /** Shows the newest value of the last 2 s, because samples are a little sparser than the grid. */
  isSampled?: true;
}

const REQUESTED: Column = { title: 'Requested', series: 'bitrateBps', text: (bps) => `${bitrate(bps)} Mbit/s` };
const MEASURED: Column = { title: 'Measured', series: 'throughputBps', text: (bps) => `${megabits(bps)} Mbit/s` };
const BUFFER: Column = { title: 'Buffer', series: 'bufferSeconds', text: seconds, isSampled: true };
const LATENCY: Column = {
  title: 'Latency',
  series: 'latencySeconds',
  text: (value) => seconds(value, 2),
  isSampled: true,
};
const RATE: Column = { title: 'Rate', series: 'playbackRate', text: (value) => decimal(value, 2), isSampled: true };
const FINE_BUFFER: Column = { ...BUFFER, text: (value) => seconds(value, 2) };

export class MomentView {
  readonly #caption: HTMLElement;
  readonly #head: HTMLElement;
  readonly #body: HTMLElement;
  #columns: readonly Column[] = [];
  /** By player: a cell per column, and one of the state. */
  #cells: HTMLElement[][] = [];
  #players: readonly RunPlayer[] = [];
  #timeline: Timeline | undefined;
  #link = '';

  constructor(table: HTMLTableElement) {
    this.#caption = element('caption', {}, 'At this moment');
    this.#head = element('tr', {});
    this.#body = element('tbody', {});
    table.replaceChildren(this.#caption, element('thead', {}, this.#head), this.#body);
  }

  begin({ timeline, players, scenario, link }: Run): void {
    this.#link = link === 'shared' ? 'shared link' : 'link';
    this.#timeline = timeline;
    this.#players = players;
    this.#columns = scenario.live ? [REQUESTED, LATENCY, RATE, FINE_BUFFER] : [REQUESTED, MEASURED, BUFFER];
    const titles = ['Player', ...this.#columns.map(({ title }) => title), 'State'];
    this.#head.replaceChildren(...titles.map((text) => element('th', { scope: 'col' }, text)));
    this.#cells = players.map(() => titles.slice(1).map(() => element('td', {}, '–')));
    const rows = players.map(({ place, title }, player) => {
      const name = element('th', { scope: 'row' }, swatch(), title);
      return element('tr', { class: `place-${place}` }, name, ...this.#cells[player]!);
    });
    this.#body.replaceChildren(...rows);
  }

  /** Shows all series at a second of the session; returns the same as a sentence. */
  draw(momentSeconds: number): string {
    const timeline = this.#timeline;
    if (timeline === undefined) return '';
    const link = `${this.#link} ${megabits(timeline.capacityBps[timeline.indexAt(momentSeconds)] ?? 0)} Mbit/s`;
    const utc = timeline.hasClock ? ` (${utcClock(timeline.utcMsAt(momentSeconds))} UTC of the trace)` : '';
    const at = `${clock(momentSeconds)}${utc}`;
    setText(this.#caption, `At ${at}: ${link}`);
    const sentences = this.#players.map(({ title, record }, player) => {
      const track = timeline.track(record);
      // Sessions start some milliseconds apart: a player may not have reached the newest moment.
      const i = timeline.indexAt(Math.min(momentSeconds, record.nowSeconds));
      const values = this.#columns.map(({ series, text, isSampled }) => {
        const value = isSampled ? latestAt(track[series], i) : track[series][i];
        return value === null || value === undefined ? '–' : text(value);
      });
      const state = stateAt(record, momentSeconds);
      const cells = this.#cells[player]!;
      [...values, state].forEach((text, column) => {
        setText(cells[column]!, text);
      });
      cells.at(-1)!.toggleAttribute('data-stalled', state === 'stalled');
      const told = this.#columns.map(({ title: name }, column) => `${name.toLowerCase()} ${values[column]}`);
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
  const isStalled = record.stalls.some(
    ({ startSeconds, endSeconds }) =>
      momentSeconds >= startSeconds && momentSeconds < (endSeconds ?? Number.POSITIVE_INFINITY),
  );
  if (isStalled) return 'stalled';
  return record.endedBy === 'end' && momentSeconds >= record.nowSeconds ? 'finished' : 'playing';
}
