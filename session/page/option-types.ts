/**
 * The options of the plugin, the same for all players. `options.ts` has their checks and defaults; `npm run tables`
 * writes the comments to docs/plugin.md, with what follows the last "Default" as the default.
 */

import type { Controller } from '../../abr/controller.ts';
import type { Forecaster } from '../../abr/forecast.ts';
import type { QoeWeights } from '../../abr/qoe/qoe.ts';
import type { Pictures } from '../decisions/qualities.ts';
import type { QualityFile, QualityOf } from '../requests/segment-qualities.ts';
import type { SizesFile } from '../requests/segment-sizes.ts';
import type { Logger } from './events.ts';

/** UTC and its uncertainty. */
export interface TimeSource {
  now(): { utcMs: number; uncertaintySeconds: number };
}

/** How a live stream may play. Defaults are the stream's and the player's. */
export interface LiveOptions {
  /** Slowest playback rate, 0.5 to 1. Default: the stream's or the player's, or 0.95. */
  minPlaybackRate?: number;
  /** Fastest playback rate, 1 to 2. Default: the stream's or the player's, or 1.05. */
  maxPlaybackRate?: number;
  /**
   * Target latency in seconds, given to the player; `auto` leaves it to a controller that can choose one. Default: the
   * player's.
   */
  targetLatencySeconds?: number | 'auto';
  /**
   * Latency in seconds at which playback jumps to the target; one below the target is ignored. Default: the stream's or
   * the player's.
   */
  maxLatencySeconds?: number;
}

/** Names for the option `controller`. */
export const CONTROLLER_NAMES = ['mpc-l', 'mpc-d'] as const;
export type ControllerName = (typeof CONTROLLER_NAMES)[number];

export interface LeoAbrOptions {
  /**
   * `mpc-l` (plans on forecasts), `mpc-d` (RobustMPC), or your own object. A named controller is made anew for each
   * source of the player; an object is shared by all. Default `mpc-l`.
   */
  controller?: ControllerName | Controller;
  /**
   * Segments that a named controller plans ahead, 1 to 20. Default: `mpc-d` 5; `mpc-l` two more than the buffer holds,
   * 5 to 16, or up to 32 s of short ones.
   */
  horizon?: number;
  /**
   * What a named controller maximises: `perceived`, quality as people see it (by `quality`, else by a model of bitrate,
   * picture, codec and size on screen); or the bitrate, `log` or `linear`. Default: `mpc-l` `perceived`, others `linear`.
   */
  qoe?: 'perceived' | 'log' | 'linear';
  /**
   * With `qoe: 'perceived'`: the measured quality of each segment, as `leo-abr quality` writes it, or its URL; or a
   * function of representation id and segment index, which gives 0 to 100. Default: the model.
   */
  quality?: QualityFile | string | URL | QualityOf;
  /**
   * With `qoe: 'perceived'`: what a Mbit/s costs in quality, 0 to 100; `true`: 2; `auto`: 2 where the browser asks for less
   * data (`navigator.connection.saveData`), else 0. Default `auto`.
   */
  saveData?: 'auto' | boolean | number;
  /** Only `mpc-l`: weight of bad outcomes beyond their cost in QoE, 0 (best mean) to 1 (fewest stalls). Default 0.2. */
  risk?: number;
  /**
   * Only `mpc-l`: how long half of your viewers watch, in seconds, 1 to Infinity (all of them to the end). A shorter
   * time shows quality sooner and buffers less for later. Default 30.
   */
  watchSeconds?: number;
  /**
   * Only `mpc-l`: abandon a download that would stall playback, for a lower bitrate; at most four times per segment.
   * Default true.
   */
  abandon?: boolean;
  /**
   * Only `mpc-l`: largest share of a session's requested bits that abandonment may waste, 0 to 1; for metered plans.
   * Default 1.
   */
  maxWastedShare?: number;
  /**
   * Only `mpc-l`: keep statistics of the link in localStorage, per origin of the stream, so that the next session need
   * not start at the lowest bitrate. Default true.
   */
  prior?: boolean;
  /**
   * `false`: nothing is read from or written to the browser's storage, so there is no `prior`. `assignArm` and
   * `reportSessions` have the same option. Default true.
   */
  storage?: boolean;
  /**
   * Only `mpc-l`: what the page has loaded recently (Resource Timing) is evidence for the first segment. Leave it off
   * where the page comes from a much nearer server than the video. Default false.
   */
  pageLoad?: boolean;
  /**
   * Your own forecasters, asked in this order. `mpc-l` asks its built-in one after them; other controllers have no
   * other. Default: none.
   */
  forecasters?: readonly Forecaster[];
  /**
   * Source of UTC, for handovers: `{ now(): { utcMs, uncertaintySeconds } }`. Default: the device's clock, with an
   * uncertainty of 2 s.
   */
  timeSource?: TimeSource;
  /**
   * Sizes of the stream's segments, or their URL: `{"representations": {"<id>": [bytes per segment]}}`. The URL of a live
   * stream is read again every third segment; its `firstIndex` is the index of the lists' first segment. Default: the
   * stream's own index if it has one, else estimates from earlier downloads.
   */
  sizes?: SizesFile | string | URL;
  /** Playback rate and latency of live streams. Default: the stream's and the player's. */
  live?: LiveOptions;
  /**
   * Turn on the player's CMCD (CTA-5004), and add the plugin's keys to the value in its requests: forecast source,
   * capacity, next handover. A page's own configuration of CMCD stays. Default false.
   */
  cmcd?: boolean;
  /** Seed of all random numbers, a whole number from 0 to 4294967295. Default 1. */
  seed?: number;
  /** Its `warn` gets the faults, which are also emitted; `null` for none. Default `console`. */
  logger?: Logger | null;
  /**
   * One line per decision and change of pace, with the player and its number: `true` for `console.debug`, or a function
   * that gets it. Default false.
   */
  debug?: boolean | ((line: string) => void);
}

/** For the project's own tools; not part of the public interface. */
export interface InternalOptions {
  /** What the plan maximises. Default: by `qoe`. */
  weights?: (pictures: Pictures) => QoeWeights;
  /** Wraps each controller, to time its answers. */
  observed?: (controller: Controller) => Controller;
}
