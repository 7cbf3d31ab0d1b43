/** The timeline: lanes by uPlot with a common time axis and a marker. */

import uPlot from 'uplot';
import { element, nextTask } from '../dom.ts';
import { clock } from '../format.ts';
import { type DemoRun, nowSecondsOf } from '../run/run.ts';
import { SessionRecord } from '../run/session-record.ts';
import { AXIS_HEIGHT, type LaneContent, type LaneForecasts, lanesOf } from './lanes.ts';
import { type Palette, readPalette } from './palette.ts';
import { paintDashes, paintFuture } from './timeline-painters.ts';

/** Width of the y axes in CSS pixels. All lanes have the same width, so that their times align. */
const GUTTER = 46;

type Lane = { plot: uPlot; content: LaneContent };

export class TimelineView {
  markedSeconds: number | undefined;
  forecasts: LaneForecasts = [];
  /** The part of the session in view. */
  window = { fromSeconds: 0, toSeconds: 60 };
  private readonly _host: HTMLElement;
  private readonly _marker = element('div', { class: 'moment', hidden: true });
  private _lanes: Lane[] = [];
  private _run: DemoRun | undefined;

  /** `onPoint` receives the second at which the pointer is pressed. */
  constructor(host: HTMLElement, onPoint: (seconds: number) => void) {
    this._host = host;
    for (const type of ['pointermove', 'pointerdown'] as const) {
      host.addEventListener(type, (event) => {
        const plot = this._lanes[0]?.plot;
        if (plot === undefined || event.buttons !== 1) return;
        onPoint(Math.max(0, plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x')));
      });
    }
    new ResizeObserver(() => {
      for (const { plot, content } of this._lanes) plot.setSize(this._size(content));
      this._placeMarker();
    }).observe(host);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', () => this._run && void this.begin(this._run));
  }

  /** Replaces the run and draws it. Each lane is a task, which keeps tasks short. */
  async begin(run: DemoRun): Promise<void> {
    this._run = run;
    for (const { plot } of this._lanes.splice(0)) plot.destroy();
    this._host.replaceChildren(this._marker);
    const palette = readPalette();
    const contents = lanesOf(run, palette, () => this.forecasts);
    const lanes: Lane[] = [];
    this._lanes = lanes;
    for (const content of contents) {
      await nextTask();
      // If a later call has begun, it builds other lanes.
      if (lanes !== this._lanes) return;
      const host = element('div', { class: 'lane' }, element('h3', {}, content.title));
      this._host.append(host);
      lanes.push({ content, plot: this._plot(content, { run, host, palette }) });
    }
    this.draw();
  }

  draw(): void {
    const run = this._run;
    if (run === undefined) return;
    const { timeline, players } = run;
    const tracks = players.map(({ record }) => timeline.track(record));
    for (const { plot, content } of this._lanes) {
      plot.batch(() => {
        plot.setData(content.dataOf(timeline, tracks), false);
        plot.setScale('x', { min: this.window.fromSeconds, max: this.window.toSeconds });
      });
    }
    this._placeMarker();
  }

  private _plot(
    content: LaneContent,
    { run, host, palette }: { run: DemoRun; host: HTMLElement; palette: Palette },
  ): uPlot {
    const { timeline, players } = run;
    const { series, range, splits, label, hasTimes = false, dataOf } = content;
    const handovers = timeline.handovers();
    const axis: uPlot.Axis = { stroke: palette.axis, font: '12px system-ui, sans-serif', ticks: { show: false } };
    const times: uPlot.Axis = {
      ...axis,
      grid: { show: false },
      size: hasTimes ? AXIS_HEIGHT : 0,
      gap: 4,
      incrs: [5, 10, 15, 30, 60, 120, 300],
      values: (_u, values) => values.map((value) => (hasTimes ? clock(value) : '')),
    };
    const values: uPlot.Axis = {
      ...axis,
      grid: { show: content.hasRows !== true, stroke: palette.grid, width: 1 },
      size: GUTTER,
      gap: 6,
      space: 26,
      ...(splits && { splits: () => splits }),
      ...(label && { values: (_u, all) => all.map(label) }),
    };
    const below = (u: uPlot) => {
      paintDashes(u, 'x', handovers, { colour: palette.handover, dash: [3, 3] });
      content.below?.(u);
    };
    const above = (u: uPlot) => {
      content.above?.(u);
      paintFuture(u, nowSecondsOf(run), { veil: palette.veil, line: palette.axis });
      content.top?.(u);
    };
    const empty = players.map(() => timeline.track(new SessionRecord()));
    return new uPlot(
      {
        ...this._size(content),
        padding: [6, 14, hasTimes ? 0 : 7, 0],
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { time: false, auto: false, min: 0, max: timeline.endSeconds }, y: { range } },
        axes: [times, values],
        series: [{}, ...series],
        hooks: { drawClear: [below], draw: [above] },
      },
      dataOf(timeline, empty),
      host,
    );
  }

  private _size({ height }: LaneContent): { width: number; height: number } {
    return { width: Math.max(this._host.clientWidth, 100), height };
  }

  private _placeMarker(): void {
    const plot = this._lanes[0]?.plot;
    const seconds = this.markedSeconds;
    this._marker.hidden = plot === undefined || seconds === undefined;
    if (plot === undefined || seconds === undefined) return;
    const x = plot.valToPos(seconds, 'x') + plot.over.offsetLeft;
    this._marker.style.transform = `translateX(${x.toFixed(1)}px)`;
  }
}
