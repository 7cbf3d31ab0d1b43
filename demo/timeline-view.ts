/** The timeline: uPlot lanes with one time axis and one marker. */

import uPlot from 'uplot';
import { encoderEdgeSeconds } from '../replay/scenarios.ts';
import { element, nextTask } from './dom.ts';
import { bitrate, clock } from './format.ts';
import type { Run } from './run.ts';
import { type DecisionNote, SessionRecord } from './session-record.ts';
import type { Timeline, Track } from './timeline-model.ts';
import { forecastFan } from './timeline-model.ts';
import {
  type Bands,
  paintArrowheads,
  paintBands,
  paintBelow,
  paintCrosses,
  paintFan,
  paintFuture,
  paintHorizontal,
  paintVerticals,
} from './timeline-painters.ts';

/** Width of the y axes in CSS pixels, the same for all lanes so that their times align. */
const GUTTER = 46;
const AXIS_HEIGHT = 26;
/** Room above the highest value of a lane. */
const HEADROOM = 1.05;
/** By place of the player, so that lines differ by more than colour. */
const DASHES: readonly number[][] = [[], [9, 4], [2, 3], [12, 3, 2, 3]];

type Palette = ReturnType<typeof readPalette>;

interface Lane {
  host: HTMLElement;
  plot: uPlot;
  dataOf(timeline: Timeline, tracks: readonly Track[]): uPlot.AlignedData;
  height(): number;
}

/** A lane with a level of each player over time. */
interface Level {
  title: string;
  series: 'bufferSeconds' | 'latencySeconds' | 'playbackRate';
  /** Least and highest value of the axis; it extends to higher values in view. */
  range: readonly [number, number];
  /** In CSS pixels, on narrow pages and on others. */
  heights: readonly [number, number];
  splits?: number[];
  /** A dashed line: the value to aim at. */
  target?: number;
  /** Values below are impossible. */
  least?: number;
}

export class TimelineView {
  /** The pointer hovers over a second (undefined: it left); `chosen`: it pressed there. */
  onPoint: (seconds: number | undefined, chosen: boolean) => void = () => {};
  readonly #host: HTMLElement;
  readonly #marker = element('div', { class: 'moment', hidden: true });
  /** From the top; incomplete while they are built. */
  #lanes: Lane[] = [];
  /** The lanes in the page: those of the previous run stay until replaced. */
  #shown: Lane[] = [];
  #run: Run | undefined;
  #builtNarrow = false;
  #nowSeconds = 0;
  #markedSeconds: number | undefined;
  #forecasts: readonly { place: number; decision: DecisionNote | undefined }[] = [];

  constructor(host: HTMLElement) {
    this.#host = host;
    host.append(this.#marker);
    for (const type of ['pointermove', 'pointerdown'] as const) {
      host.addEventListener(type, (event) => {
        const seconds = this.#secondsAt(event);
        if (seconds !== undefined) this.onPoint(seconds, type === 'pointerdown');
      });
    }
    host.addEventListener('pointerleave', () => this.onPoint(undefined, false));
    new ResizeObserver(() => this.#resize()).observe(host);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#rebuild();
    });
  }

  /** Replaces the run, a lane per task to keep tasks short; call draw() to show it. */
  async begin(run: Run): Promise<void> {
    this.#run = run;
    this.#nowSeconds = 0;
    this.#forecasts = [];
    const steps = this.#build();
    const lanes = this.#lanes;
    for (const addLane of steps) {
      await nextTask();
      // A later call builds other lanes.
      if (lanes !== this.#lanes) return;
      addLane();
    }
  }

  /** Marks a second in all lanes; undefined for none. */
  mark(seconds: number | undefined): void {
    this.#markedSeconds = seconds;
    this.#placeMarker();
  }

  /** The decisions whose forecasts are drawn. */
  set forecasts(forecasts: readonly { place: number; decision: DecisionNote | undefined }[]) {
    this.#forecasts = forecasts;
  }

  get hasForecast(): boolean {
    return this.#forecasts.some(({ decision }) => forecastFan(decision?.forecast).length > 0);
  }

  draw(): void {
    const run = this.#run;
    if (run === undefined) return;
    const { timeline, players } = run;
    this.#nowSeconds = Math.max(0, ...players.map(({ record }) => record.nowSeconds));
    const tracks = players.map(({ record }) => timeline.track(record));
    const max = timeline.endSeconds;
    for (const { plot, dataOf } of this.#lanes) {
      plot.batch(() => {
        plot.setData(dataOf(timeline, tracks), false);
        plot.setScale('x', { min: 0, max });
      });
    }
    this.#placeMarker();
  }

  /** Steps that build the lanes from the top, each in the place of a previous one. */
  #build(): (() => void)[] {
    const run = this.#run;
    if (run === undefined) return [];
    const palette = readPalette();
    const lanes: Lane[] = [];
    this.#lanes = lanes;
    this.#builtNarrow = this.#isNarrow;
    const kinds = [
      () => this.#linkLane(run, palette),
      () => this.#bitrateLane(run, palette),
      ...levelsOf(run).map((level) => () => this.#levelLane(run, palette, level)),
      () => this.#stallLane(run, palette),
    ];
    const steps = kinds.map((build, place) => () => {
      lanes[place] = build();
      this.#shown[place] = lanes[place];
    });
    // A previous run may have had more lanes.
    const dropRest = () => {
      for (const { plot, host } of this.#shown.splice(kinds.length)) {
        plot.destroy();
        host.remove();
      }
    };
    return [...steps, dropRest];
  }

  /** The link's capacity, and each player's throughput. */
  #linkLane(run: Run, palette: Palette): Lane {
    const topMbps = Math.max(1, ...run.timeline.capacityBps) / 1e6;
    return this.#lane({
      title: `${run.link === 'shared' ? 'Capacity of the shared link' : 'Link capacity'}, and ${run.scenario.live ? 'rate' : 'throughput'} of each download (Mbit/s)`,
      palette,
      height: () => (this.#isNarrow ? 130 : 170),
      y: { range: [0, topMbps * HEADROOM] },
      series: [
        { stroke: palette.capacityLine, fill: palette.capacity, width: 1, paths: uPlot.paths.stepped!({ align: 1 }) },
        ...run.players.map(({ place }) => lineOf(place, palette)),
      ],
      dataOf: (timeline, tracks) => [
        timeline.times,
        timeline.capacityBps.map((bps) => bps / 1e6),
        ...tracks.map(({ throughputBps }) => throughputBps.map((bps) => bps && bps / 1e6)),
      ],
      top: (u) => {
        for (const { place, decision } of this.#forecasts) {
          const colour = palette.players[place]!;
          paintFan(u, forecastFan(decision?.forecast), { area: withAlpha(colour, 0.18), line: withAlpha(colour, 0.6) });
          const expected = decision?.forecast?.handovers ?? [];
          const marks = expected.map(({ atMs, confidence }) => ({ seconds: run.timeline.secondsAt(atMs), confidence }));
          paintArrowheads(u, marks, colour);
        }
      },
    });
  }

  /** The bitrate of each player's requests, a rung per representation; crosses mark abandoned downloads. */
  #bitrateLane(run: Run, palette: Palette): Lane {
    const { players } = run;
    const { ladderBps } = run.scenario;
    const rung = (bps: number) => ladderBps.findIndex((one) => Math.abs(one - bps) < 1);
    // Lines on the same rung lie side by side.
    const dodge = (i: number) => (i - (players.length - 1) / 2) * 0.14;
    return this.#lane({
      title: 'Bitrate requested (Mbit/s)',
      palette,
      height: () => (this.#isNarrow ? 110 : 140),
      y: {
        range: [-0.5, ladderBps.length - 0.5],
        splits: ladderBps.map((_, i) => i),
        label: (value) => bitrate(ladderBps[value] ?? 0),
      },
      series: players.map(({ place }) => lineOf(place, palette)),
      dataOf: (timeline, tracks) => [
        timeline.times,
        ...tracks.map(({ bitrateBps }, i) => bitrateBps.map((bps) => (bps === null ? null : rung(bps) + dodge(i)))),
      ],
      above: (u) => {
        players.forEach(({ place, record }, i) => {
          const abandoned = record.downloads.filter(({ outcome }) => outcome === 'abandoned');
          const points = abandoned.map(({ endedAtSeconds, bitrateBps }) => {
            return { seconds: endedAtSeconds!, value: rung(bitrateBps) + dodge(i) };
          });
          paintCrosses(u, points, palette.players[place]!);
        });
      },
    });
  }

  #levelLane({ players }: Run, palette: Palette, level: Level): Lane {
    const { title, series, range, heights, splits, target, least } = level;
    return this.#lane({
      title,
      palette,
      height: () => heights[this.#isNarrow ? 0 : 1],
      y: {
        range: (_u, _min, max) => [range[0], Math.max(range[1], (max ?? 0) * HEADROOM)],
        ...(splits && { splits }),
      },
      series: players.map(({ place }) => ({ ...lineOf(place, palette), paths: uPlot.paths.linear!(), spanGaps: true })),
      dataOf: (timeline, tracks) => [timeline.times, ...tracks.map((track) => track[series])],
      below: (u) => {
        if (least !== undefined) paintBelow(u, least, palette.capacity);
        for (const { record } of players) paintBands(u, stallBands(record, palette.stallFaint));
      },
      above: (u) => {
        if (target !== undefined) paintHorizontal(u, target, palette.axis);
      },
    });
  }

  /** A row per player: pale during startup, red in stalls. */
  #stallLane({ players }: Run, palette: Palette): Lane {
    return this.#lane({
      title: 'Stalls',
      palette,
      height: () => players.length * 16 + AXIS_HEIGHT + 4,
      hasTimes: true,
      y: { range: [0, players.length], splits: [], label: () => '' },
      series: [{ show: false }],
      dataOf: (timeline) => [timeline.times, timeline.times.map(() => null)],
      below: (u) => {
        players.forEach(({ place, record }, row) => {
          const rows = players.length;
          const { nowSeconds, startupSeconds } = record;
          const spans = nowSeconds > 0 ? [{ startSeconds: 0, endSeconds: startupSeconds }] : [];
          paintBands(u, { spans, nowSeconds, colour: palette.startup }, row, rows);
          paintBands(u, stallBands(record, palette.stall), row, rows);
          paintGutter(u, { row, rows, colour: palette.players[place]!, dash: DASHES[place]! });
        });
      },
    });
  }

  #lane(options: {
    title: string;
    palette: Palette;
    height: () => number;
    y: { range: uPlot.Scale.Range; splits?: number[]; label?: (value: number) => string };
    series: uPlot.Series[];
    dataOf: Lane['dataOf'];
    hasTimes?: boolean;
    below?: (u: uPlot) => void;
    above?: (u: uPlot) => void;
    /** Above the veil over the future. */
    top?: (u: uPlot) => void;
  }): Lane {
    const { palette, y, hasTimes = false, dataOf, height } = options;
    const host = element('div', { class: 'lane' }, element('h3', {}, options.title));
    // Replace the previous lane, so that the page keeps its height.
    const before = this.#shown[this.#lanes.length];
    before?.plot.destroy();
    if (before === undefined) this.#host.append(host);
    else before.host.replaceWith(host);
    const { timeline, players } = this.#run!;
    const handovers = timeline.handovers();
    const axis: uPlot.Axis = {
      stroke: palette.axis,
      font: `${this.#isNarrow ? 14 : 12}px system-ui, sans-serif`,
      grid: { stroke: palette.grid, width: 1 },
      ticks: { show: false },
    };
    const { splits, label } = y;
    const empty = players.map(() => timeline.track(new SessionRecord()));
    const plot = new uPlot(
      {
        width: Math.max(this.#host.clientWidth, 100),
        height: height(),
        padding: [6, 14, hasTimes ? 0 : 7, 0],
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { time: false, auto: false, min: 0, max: timeline.endSeconds }, y: { range: y.range } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: hasTimes ? AXIS_HEIGHT : 0,
            gap: 4,
            incrs: [5, 10, 15, 30, 60, 120, 300],
            values: (_u, values) => values.map((value) => (hasTimes ? clock(value) : '')),
          },
          {
            ...axis,
            size: GUTTER,
            gap: 6,
            space: 26,
            ...(splits && { splits: () => splits }),
            ...(label && { values: (_u: uPlot, values: number[]) => values.map(label) }),
          },
        ],
        series: [{}, ...options.series],
        hooks: {
          drawClear: [
            (u) => {
              paintVerticals(u, handovers, { colour: palette.handover, dash: [3, 3] });
              options.below?.(u);
            },
          ],
          draw: [
            (u) => {
              options.above?.(u);
              paintFuture(u, this.#nowSeconds, { veil: palette.veil, line: palette.now });
              options.top?.(u);
            },
          ],
        },
      },
      dataOf(timeline, empty),
      host,
    );
    return { host, plot, dataOf, height };
  }

  get #isNarrow(): boolean {
    return this.#host.clientWidth < 600;
  }

  #rebuild(): void {
    for (const addLane of this.#build()) addLane();
    this.draw();
  }

  #resize(): void {
    // Its labels are larger.
    if (this.#lanes.length > 0 && this.#isNarrow !== this.#builtNarrow) this.#rebuild();
    for (const { plot, height } of this.#lanes) {
      plot.setSize({ width: Math.max(this.#host.clientWidth, 100), height: height() });
    }
    this.#placeMarker();
  }

  #secondsAt(event: PointerEvent): number | undefined {
    const plot = this.#lanes[0]?.plot;
    if (plot === undefined) return undefined;
    const { left } = plot.over.getBoundingClientRect();
    const seconds = plot.posToVal(event.clientX - left, 'x');
    return Math.min(this.#nowSeconds, Math.max(0, seconds));
  }

  #placeMarker(): void {
    const plot = this.#lanes[0]?.plot;
    const seconds = this.#markedSeconds;
    this.#marker.hidden = plot === undefined || seconds === undefined;
    if (plot === undefined || seconds === undefined) return;
    const x = plot.valToPos(seconds, 'x') + plot.over.offsetLeft;
    this.#marker.style.transform = `translateX(${x.toFixed(1)}px)`;
  }
}

/** The levels of a run, from the top. */
function levelsOf({ scenario: { live, bufferCapSeconds } }: Run): Level[] {
  const buffer = { title: 'Buffer (s)', series: 'bufferSeconds', heights: [90, 110] } as const;
  if (live === undefined) return [{ ...buffer, range: [0, bufferCapSeconds * HEADROOM] }];
  const { targetLatencySeconds: target, playbackRates = { min: 1, max: 1 } } = live;
  const least = encoderEdgeSeconds(live);
  const top = 1.5 * target + 0.5;
  return [
    {
      title: `Live latency (s): target ${target}, encoder’s edge ${least}`,
      series: 'latencySeconds',
      range: [0, top],
      heights: [120, 150],
      target,
      least,
    },
    {
      title: 'Playback rate',
      series: 'playbackRate',
      range: [playbackRates.min - 0.01, playbackRates.max + 0.01],
      heights: [70, 80],
      splits: [playbackRates.min, 1, playbackRates.max],
    },
    // Nobody can buffer what does not exist.
    { ...buffer, range: [0, top - least] },
  ];
}

function stallBands({ stalls, nowSeconds }: SessionRecord, colour: string): Bands {
  return { spans: stalls, nowSeconds, colour };
}

function lineOf(place: number, palette: Palette): uPlot.Series {
  return {
    stroke: palette.players[place]!,
    width: 2,
    dash: DASHES[place]!,
    points: { show: false },
    paths: uPlot.paths.stepped!({ align: 1 }),
  };
}

/** A piece of a player's line, left of its row. */
function paintGutter(
  u: uPlot,
  { row, rows, colour, dash }: { row: number; rows: number; colour: string; dash: readonly number[] },
): void {
  const { ctx, bbox } = u;
  const y = bbox.top + ((row + 0.5) * bbox.height) / rows;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2 * uPlot.pxRatio;
  ctx.setLineDash(dash.map((length) => length * uPlot.pxRatio));
  ctx.beginPath();
  ctx.moveTo(bbox.left - 38 * uPlot.pxRatio, y);
  ctx.lineTo(bbox.left - 8 * uPlot.pxRatio, y);
  ctx.stroke();
  ctx.restore();
}

/** The style sheet's current colours. */
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const stall = read('stall');
  return {
    players: DASHES.map((_, place) => read(`player-${place}`)),
    axis: read('text-soft'),
    grid: read('line'),
    capacity: read('capacity'),
    capacityLine: read('capacity-line'),
    handover: read('handover'),
    stall,
    stallFaint: withAlpha(stall, 0.16),
    startup: read('startup'),
    veil: withAlpha(read('panel'), 0.62),
    now: read('text-soft'),
  };
}

/** A `#rrggbb` colour with an alpha of 0 to 1. */
function withAlpha(colour: string, alpha: number): string {
  const byte = Math.round(alpha * 255);
  return `${colour}${byte.toString(16).padStart(2, '0')}`;
}
