/** The contents of the timeline's lanes: stalls, quality, the link with the requests, and buffer or latency. */

import type { Forecast } from 'leo-abr';
import uPlot from 'uplot';
import { percent } from '../format.ts';
import { preparationFor } from '../run/handovers.ts';
import type { DemoRun } from '../run/run.ts';
import { qualityOf } from '../run/session-record.ts';
import { forecastFan, type Timeline, type Track } from '../run/timeline-model.ts';
import { DASHES, type Palette, withAlpha } from './palette.ts';
import { expectedIn, preparationText } from './story.ts';
import { type Band, paintBands, paintDashes, paintFan, paintRule } from './timeline-painters.ts';

export const AXIS_HEIGHT = 26;
/** If the plot is narrower than this, in CSS pixels, labels are short. */
const NARROW = 600;
/** Room above the highest value of a lane. The lane of the link has labels, which must hide no curve. */
const HEADROOM = 1.05;
const LABEL_ROOM = 1.3;

export type LaneForecasts = readonly { place: number; forecast: Forecast | undefined }[];

export interface LaneContent {
  title: string;
  /** In CSS pixels. */
  height: number;
  range: uPlot.Scale.Range;
  splits?: number[];
  label?: (value: number) => string;
  series: uPlot.Series[];
  dataOf(timeline: Timeline, tracks: readonly Track[]): uPlot.AlignedData;
  hasTimes?: boolean;
  /** The lane has a row per player instead of values. */
  hasRows?: boolean;
  below?: (u: uPlot) => void;
  above?: (u: uPlot) => void;
  /** Paints above the veil over the future. */
  top?: (u: uPlot) => void;
}

/** Returns the lanes from the top. */
export function lanesOf(run: DemoRun, palette: Palette, forecasts: () => LaneForecasts): LaneContent[] {
  const [stalls, quality] = [stallLane(run, palette), qualityLane(run, palette)];
  return [stalls, quality, linkLane(run, palette, forecasts), levelLane(run, palette)];
}

/** Each player has a row: pale during startup, in the player's colour during playback, red in stalls. */
function stallLane({ players }: DemoRun, palette: Palette): LaneContent {
  const rows = players.length;
  return {
    title: 'Frozen (red)',
    height: rows * 16 + 8,
    hasRows: true,
    range: [0, rows],
    splits: players.map((_, row) => rows - row - 0.5),
    label: (value) => String(rows - value + 0.5),
    series: [{ show: false }],
    dataOf: ({ times }) => [times, times.map(() => null)],
    below: (u) => {
      players.forEach(({ place, record }, row) => {
        const { nowSeconds, startupSoFarSeconds: startup } = record;
        const paint = (bands: readonly Band[], colour: string) => paintBands(u, bands, colour, { row, rows });
        if (nowSeconds === 0) return;
        paint([{ startSeconds: 0, endSeconds: startup }], palette.startup);
        paint([{ startSeconds: startup, endSeconds: nowSeconds }], withAlpha(palette.players[place]!, 0.3));
        paint(record.stallsSoFar, palette.stall);
      });
    },
  };
}

function qualityLane({ players, scenario }: DemoRun, palette: Palette): LaneContent {
  const qualities = new Map(scenario.ladderBps.map((bps) => [bps, qualityOf(bps, scenario)]));
  const least = 10 * Math.floor(Math.min(...qualities.values()) / 10);
  return {
    title: 'Picture quality on screen (of 100)',
    height: 110,
    range: [least, 101],
    series: players.map(({ place }) => ({ ...lineOf(place, palette), spanGaps: true })),
    dataOf: ({ times }, tracks) => [
      times,
      ...tracks.map(({ shownBitrateBps }) => shownBitrateBps.map((bps) => (bps && qualities.get(bps)) ?? null)),
    ],
    below: (u) => {
      for (const { record } of players) paintBands(u, record.stallsSoFar, withAlpha(palette.stall, 0.16));
    },
  };
}

/** Shows the capacity of the link, and the bitrates of requests and the forecast of each player. */
function linkLane({ players }: DemoRun, palette: Palette, forecasts: () => LaneForecasts): LaneContent {
  return {
    title: 'Link (grey), forecast and requests (Mbit/s)',
    height: 130,
    range: (_u, _min, max) => [0, Math.max(1, max ?? 0) * LABEL_ROOM],
    series: [
      { stroke: palette.capacityLine, fill: palette.capacity, width: 1, paths: uPlot.paths.stepped!({ align: 1 }) },
      ...players.map(({ place }) => lineOf(place, palette)),
    ],
    dataOf: ({ times, capacityBps }, tracks) => [
      times,
      capacityBps.map((bps) => bps / 1e6),
      ...tracks.map(({ bitrateBps }) => bitrateBps.map((bps) => bps && bps / 1e6)),
    ],
    top: (u) => {
      for (const { place, forecast } of forecasts()) {
        const colour = palette.players[place]!;
        paintFan(u, forecastFan(forecast), { area: withAlpha(colour, 0.18), line: withAlpha(colour, 0.6) });
      }
      for (const { place, record } of players) {
        for (const handover of expectedIn(record)) {
          const { atSeconds, confidence } = handover;
          const preparation = preparationText(preparationFor(handover, record));
          const long = `another satellite expected, ${percent(confidence)} sure: ${preparation}`;
          const isNewest = handover === record.handovers.at(-1);
          const text = isNewest ? (u.width < NARROW ? 'satellite' : long) : '';
          paintRule(u, atSeconds, { text, colour: palette.players[place]!, background: palette.panel });
        }
      }
    },
  };
}

/** Shows the time behind live with its target or, on demand, the buffer level. */
function levelLane({ players, scenario: { live, bufferCapSeconds } }: DemoRun, palette: Palette): LaneContent {
  const series = live ? 'latencySeconds' : 'bufferSeconds';
  const top = live ? 1.5 * live.targetLatencySeconds + 0.5 : Math.min(bufferCapSeconds, 20);
  return {
    title: live ? `Behind live (s); aim: ${live.targetLatencySeconds}` : 'Buffer (s)',
    height: 100 + AXIS_HEIGHT,
    hasTimes: true,
    range: (_u, _min, max) => [0, Math.max(top, max ?? 0) * HEADROOM],
    series: players.map(({ place }) => ({ ...lineOf(place, palette), paths: uPlot.paths.linear!(), spanGaps: true })),
    dataOf: ({ times }, tracks) => [times, ...tracks.map((track) => track[series])],
    above: (u) => {
      if (live) paintDashes(u, 'y', [live.targetLatencySeconds], { colour: palette.axis, dash: [6, 4] });
    },
  };
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
