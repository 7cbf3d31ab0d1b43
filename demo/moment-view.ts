/** All series at one moment in numbers: what hovering the timeline reads, and its text for those who cannot see it. */

import { element, setText } from './dom.ts';
import { bitrate, clock, megabits, seconds, utcClock } from './format.ts';
import type { Run, RunPlayer } from './run.ts';
import type { SessionRecord } from './session-record.ts';
import type { Timeline } from './timeline-model.ts';

interface Row {
  root: HTMLElement;
  cells: Record<'bitrate' | 'measured' | 'buffer' | 'state', HTMLElement>;
}

export class MomentView {
  readonly #caption: HTMLElement;
  readonly #body: HTMLElement;
  #rows: Row[] = [];
  #players: readonly RunPlayer[] = [];
  #timeline: Timeline | undefined;

  constructor(table: HTMLTableElement) {
    this.#caption = element('caption', {}, 'At this moment');
    this.#body = element('tbody', {});
    const head = ['Player', 'Asked for', 'Measured', 'Buffer', 'State'].map((text) =>
      element('th', { scope: 'col' }, text),
    );
    table.replaceChildren(this.#caption, element('thead', {}, element('tr', {}, ...head)), this.#body);
  }

  begin({ timeline, players }: Run): void {
    this.#timeline = timeline;
    this.#players = players;
    this.#rows = players.map(({ place, title }) => {
      const cell = () => element('td', {}, '–');
      const cells = { bitrate: cell(), measured: cell(), buffer: cell(), state: cell() };
      const name = element('th', { scope: 'row' }, element('span', { class: 'swatch', 'aria-hidden': 'true' }), title);
      const root = element('tr', { class: `place-${place}` }, name, ...Object.values(cells));
      return { root, cells };
    });
    this.#body.replaceChildren(...this.#rows.map(({ root }) => root));
  }

  /** Reads all series at a second of the session; returns the same in a sentence. */
  draw(momentSeconds: number): string {
    const timeline = this.#timeline;
    if (timeline === undefined) return '';
    const link = `link ${megabits(timeline.capacityBps[timeline.indexAt(momentSeconds)] ?? 0)} Mbit/s`;
    const utc = timeline.hasClock ? ` (${utcClock(timeline.utcMsAt(momentSeconds))} UTC of the trace)` : '';
    const at = `${clock(momentSeconds)}${utc}`;
    setText(this.#caption, `At ${at}: ${link}`);
    const sentences = this.#players.map(({ title, record }, player) => {
      const { cells } = this.#rows[player]!;
      const track = timeline.track(record);
      // Sessions begin some milliseconds apart: at the newest moment a player may not be there yet.
      const i = timeline.indexAt(Math.min(momentSeconds, record.nowSeconds));
      const show = (value: number | null | undefined, text: (value: number) => string) =>
        value === null || value === undefined ? '–' : text(value);
      const rate = (bps: number) => `${megabits(bps)} Mbit/s`;
      const values = {
        bitrate: show(track.bitrateBps[i], (bps) => `${bitrate(bps)} Mbit/s`),
        measured: show(track.throughputBps[i], rate),
        buffer: show(latestAt(track.bufferSeconds, i), seconds),
        state: stateAt(record, momentSeconds),
      };
      setText(cells.bitrate, values.bitrate);
      setText(cells.measured, values.measured);
      setText(cells.buffer, values.buffer);
      setText(cells.state, values.state);
      cells.state.toggleAttribute('data-stalled', values.state === 'stalled');
      return `${title} ${values.state}, asks for ${values.bitrate}, buffer ${values.buffer}`;
    });
    return `${clock(momentSeconds)}: ${[link, ...sentences].join('; ')}`;
  }
}

/** Samples come a little less often than the grid has points. */
function latestAt(series: readonly (number | null)[], index: number): number | undefined {
  for (let i = index; i >= 0 && i > index - 8; i--) {
    const value = series[i];
    if (value !== null && value !== undefined) return value;
  }
  return undefined;
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
