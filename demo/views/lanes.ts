/** What the lanes of the timeline show: link and downloads, stalls, bitrates, and levels such as the buffer's. */

import type { Forecast } from 'leo-abr';
import uPlot from 'uplot';
import { encoderEdgeSeconds } from '../../replay/scenarios.ts';
import { bitrate, percent } from '../format.ts';
import type { DemoRun } from '../run/run.ts';
import type { SessionRecord } from '../run/session-record.ts';
import { forecastFan, type Timeline, type Track } from '../run/timeline-model.ts';
import { DASHES, type Palette, withAlpha } from './palette.ts';
import {
  type Band,
  paintBands,
  paintBelow,
  paintCrosses,
  paintDashes,
  paintFan,
  paintRule,
} from './timeline-painters.ts';

export const AXIS_HEIGHT = 26;
/** Width in CSS pixels below which labels are short. */
const NARROW = 600;
/** Room above the highest value of a lane. */
const HEADROOM = 1.05;

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
  /** A row per player, in place of values. */
  hasRows?: boolean;
  below?: (u: uPlot) => void;
  above?: (u: uPlot) => void;
  /** Above the veil over the future. */
  top?: (u: uPlot) => void;
}

/** A lane with a level of each player over time. */
interface Level extends Pick<LaneContent, 'title' | 'height' | 'splits'> {
  series: 'bufferSeconds' | 'latencySeconds' | 'playbackRate';
  /** Least and highest value of the axis; it extends to higher values in view. */
  range: readonly [number, number];
  /** A dashed line: the value to aim at. */
  target?: number;
  /** Values below are impossible. */
  least?: number;
}

/** From the top. */
export function lanesOf(run: DemoRun, palette: Palette, forecasts: () => LaneForecasts): LaneContent[] {
  return [
    linkLane(run, palette, forecasts),
    stallLane(run, palette),
    bitrateLane(run, palette),
    ...levelsOf(run).map((level, i, { length }) => ({
      ...levelLane(run, palette, level),
      ...(i === length - 1 && { hasTimes: true, height: level.height + AXIS_HEIGHT }),
    })),
  ];
}

/** The link's capacity, and each player's throughput and forecast. */
function linkLane({ timeline, players }: DemoRun, palette: Palette, forecasts: () => LaneForecasts): LaneContent {
  const topMbps = Math.max(1, ...timeline.capacityBps) / 1e6;
  return {
    title: 'Link capacity and downloads (Mbit/s)',
    height: 110,
    range: [0, topMbps * HEADROOM],
    series: [
      { stroke: palette.capacityLine, fill: palette.capacity, width: 1, paths: uPlot.paths.stepped!({ align: 1 }) },
      ...players.map(({ place }) => lineOf(place, palette)),
    ],
    dataOf: ({ times, capacityBps }, tracks) => [
      times,
      capacityBps.map((bps) => bps / 1e6),
      ...tracks.map(({ throughputBps }) => throughputBps.map((bps) => bps && bps / 1e6)),
    ],
    top: (u) => {
      for (const { place, forecast } of forecasts()) {
        const colour = palette.players[place]!;
        paintFan(u, forecastFan(forecast), { area: withAlpha(colour, 0.18), line: withAlpha(colour, 0.6) });
      }
      for (const { place, title, record } of players) {
        for (const { atSeconds, confidence } of record.handovers) {
          const sure = percent(confidence);
          const isPast = record.nowSeconds > atSeconds;
          const short = isPast ? '' : `expected, ${sure}`;
          const text = u.width < NARROW ? short : `${title} expects a handover, ${sure}`;
          paintRule(u, atSeconds, { text, colour: palette.players[place]!, background: palette.panel });
        }
      }
    },
  };
}

/** The bitrate of each player's requests, a rung per representation; crosses mark abandoned downloads. */
function bitrateLane({ players, scenario: { ladderBps } }: DemoRun, palette: Palette): LaneContent {
  const rung = (bps: number) => ladderBps.findIndex((one) => Math.abs(one - bps) < 1);
  // Lines on the same rung lie side by side.
  const dodge = (i: number) => (i - (players.length - 1) / 2) * 0.14;
  return {
    title: 'Bitrate requested (Mbit/s)',
    height: 140,
    range: [-0.5, ladderBps.length - 0.5],
    splits: ladderBps.map((_, i) => i),
    label: (value) => bitrate(ladderBps[value] ?? 0),
    series: players.map(({ place }) => lineOf(place, palette)),
    dataOf: ({ times }, tracks) => [
      times,
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
  };
}

function levelLane(
  { players }: DemoRun,
  palette: Palette,
  { series, range, target, least, ...level }: Level,
): LaneContent {
  return {
    ...level,
    range: (_u, _min, max) => [range[0], Math.max(range[1], (max ?? 0) * HEADROOM)],
    series: players.map(({ place }) => ({ ...lineOf(place, palette), paths: uPlot.paths.linear!(), spanGaps: true })),
    dataOf: ({ times }, tracks) => [times, ...tracks.map((track) => track[series])],
    below: (u) => {
      if (least !== undefined) paintBelow(u, least, palette.capacity);
      for (const { record } of players) paintBands(u, stallsOf(record), withAlpha(palette.stall, 0.16));
    },
    above: (u) => {
      if (target !== undefined) paintDashes(u, 'y', [target], { colour: palette.axis, dash: [6, 4] });
    },
  };
}

/** A row per player, numbered from the top: pale during startup, red in stalls, striped while slower than normal. */
function stallLane({ players, scenario: { live } }: DemoRun, palette: Palette): LaneContent {
  const rows = players.length;
  return {
    title: live ? 'Stands still (red), plays slower (its colour)' : 'Stands still (red)',
    height: rows * 16 + AXIS_HEIGHT + 4,
    hasTimes: true,
    hasRows: true,
    range: [0, rows],
    splits: players.map((_, row) => rows - row - 0.5),
    label: (value) => String(rows - value + 0.5),
    series: [{ show: false }],
    dataOf: ({ times }) => [times, times.map(() => null)],
    below: (u) => {
      players.forEach(({ place, record }, row) => {
        paintBands(u, slowBands(record), withAlpha(palette.players[place]!, 0.35), { row, rows });
        const startup = { startSeconds: 0, endSeconds: record.startupSoFarSeconds };
        paintBands(u, record.nowSeconds > 0 ? [startup] : [], palette.startup, { row, rows });
        paintBands(u, stallsOf(record), palette.stall, { row, rows });
      });
    },
  };
}

function levelsOf({ scenario: { live, bufferCapSeconds } }: DemoRun): Level[] {
  const buffer = { title: 'Buffer (s)', series: 'bufferSeconds', height: 110 } as const;
  if (live === undefined) return [{ ...buffer, range: [0, bufferCapSeconds * HEADROOM] }];
  const { targetLatencySeconds: target, playbackRates = { min: 1, max: 1 } } = live;
  const least = encoderEdgeSeconds(live);
  const top = 1.5 * target + 0.5;
  return [
    {
      title: `Live latency (s): target ${target}, encoder’s edge ${least}`,
      series: 'latencySeconds',
      range: [0, top],
      height: 150,
      target,
      least,
    },
    {
      title: 'Playback rate',
      series: 'playbackRate',
      range: [playbackRates.min - 0.01, playbackRates.max + 0.01],
      height: 80,
      splits: [playbackRates.min, 1, playbackRates.max],
    },
    // Nobody can buffer what does not exist.
    { ...buffer, range: [0, top - least] },
  ];
}

function stallsOf({ stalls, nowSeconds }: SessionRecord): Band[] {
  return stalls.map(({ startSeconds, endSeconds = nowSeconds }) => ({ startSeconds, endSeconds }));
}

function slowBands({ positions, nowSeconds }: SessionRecord): Band[] {
  return positions.flatMap(({ atSeconds, rate }, i) => {
    const endSeconds = positions[i + 1]?.atSeconds ?? nowSeconds;
    return rate < 1 ? [{ startSeconds: atSeconds, endSeconds }] : [];
  });
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
