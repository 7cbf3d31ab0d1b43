/** The table with all series at one moment, and the same as a sentence for screen readers. */

import { element, setText, swatch } from './dom.ts';
import { bitrate, clock, megabits, seconds, utcClock } from './format.ts';
import type { Run, RunPlayer } from './run.ts';
import type { SessionRecord } from './session-record.ts';
import type { Series, Timeline } from './timeline-model.ts';

type Cells = Record<'bitrate' | 'measured' | 'buffer' | 'state', HTMLElement>;

export class MomentView {
  readonly #caption: HTMLElement;
  readonly #body: HTMLElement;
  /** By player. */
  #cells: Cells[] = [];
  #players: readonly RunPlayer[] = [];
  #timeline: Timeline | undefined;

  constructor(table: HTMLTableElement) {
    this.#caption = element('caption', {}, 'At this moment');
    this.#body = element('tbody', {});
    const head = ['Player', 'Requested', 'Measured', 'Buffer', 'State'].map((text) =>
      element('th', { scope: 'col' }, text),
    );
    table.replaceChildren(this.#caption, element('thead', {}, element('tr', {}, ...head)), this.#body);
  }

  begin({ timeline, players }: Run): void {
    this.#timeline = timeline;
    this.#players = players;
    const cell = () => element('td', {}, '–');
    this.#cells = players.map(() => ({ bitrate: cell(), measured: cell(), buffer: cell(), state: cell() }));
    const rows = players.map(({ place, title }, player) => {
      const name = element('th', { scope: 'row' }, swatch(), title);
      return element('tr', { class: `place-${place}` }, name, ...Object.values(this.#cells[player]!));
    });
    this.#body.replaceChildren(...rows);
  }

  /** Shows all series at a second of the session; returns the same as a sentence. */
  draw(momentSeconds: number): string {
    const timeline = this.#timeline;
    if (timeline === undefined) return '';
    const link = `link ${megabits(timeline.capacityBps[timeline.indexAt(momentSeconds)] ?? 0)} Mbit/s`;
    const utc = timeline.hasClock ? ` (${utcClock(timeline.utcMsAt(momentSeconds))} UTC of the trace)` : '';
    const at = `${clock(momentSeconds)}${utc}`;
    setText(this.#caption, `At ${at}: ${link}`);
    const sentences = this.#players.map(({ title, record }, player) => {
      const track = timeline.track(record);
      // Sessions start some milliseconds apart: a player may not have reached the newest moment.
      const i = timeline.indexAt(Math.min(momentSeconds, record.nowSeconds));
      const show = (value: number | null | undefined, text: (value: number) => string) =>
        value === null || value === undefined ? '–' : text(value);
      const values = {
        bitrate: show(track.bitrateBps[i], (bps) => `${bitrate(bps)} Mbit/s`),
        measured: show(track.throughputBps[i], (bps) => `${megabits(bps)} Mbit/s`),
        buffer: show(latestAt(track.bufferSeconds, i), seconds),
        state: stateAt(record, momentSeconds),
      };
      const cells = this.#cells[player]!;
      for (const [name, text] of Object.entries(values)) setText(cells[name as keyof Cells], text);
      cells.state.toggleAttribute('data-stalled', values.state === 'stalled');
      return `${title} ${values.state}, requests ${values.bitrate}, buffer ${values.buffer}`;
    });
    return `${clock(momentSeconds)}: ${[link, ...sentences].join('; ')}`;
  }
}

/** The newest value in the 2 s up to a grid point: samples are a little sparser than the grid. */
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
