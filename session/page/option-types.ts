/**
 * The options of the plugin, the same for all players. `options.ts` has their checks and defaults; `npm run tables`
 * writes the comments to docs/plugin.md, with what follows the last "Default" as the default.
 */

import type { Controller } from '../../abr/controller.ts';
import type { Forecaster } from '../../abr/forecast.ts';
import type { QualityFile, QualityOf, SizesFile } from '../segment-lists.ts';
import type { Logger } from './event-types.ts';

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
  /** Target latency in seconds. Default: the player's. */
  targetLatencySeconds?: number;
  /**
   * Latency in seconds, larger than the target, at which playback jumps to the target. Default: the stream's or the player's.
   */
  maxLatencySeconds?: number;
}

/** Names for the option `controller`. */
export const CONTROLLER_NAMES = ['mpc-l', 'mpc-d'] as const;
export type ControllerName = (typeof CONTROLLER_NAMES)[number];

export interface LeoAbrOptions {
  /**
   * `mpc-l` (plans on forecasts), `mpc-d` (RobustMPC), or your own object, for all sources. Default `mpc-l`.
   */
  controller?: ControllerName | Controller;
  /** Segments that a named controller plans ahead, 1 to 20. Default: `mpc-d` 5; `mpc-l` by the buffer, at least 5. */
  horizon?: number;
  /**
   * What a named controller maximises: `perceived` quality, or bitrate (`log` or `linear`). Default: `mpc-l`
   * `perceived`, others `linear`.
   */
  qoe?: 'perceived' | 'log' | 'linear';
  /**
   * For `perceived`: measured qualities that `leo-abr quality` wrote, or their URL; or a function of representation id
   * and segment index, which gives 0 to 100. Default: a model.
   */
  quality?: QualityFile | string | URL | QualityOf;
  /**
   * For `perceived`: points of quality that each further Mbit/s must add, 0 to 100. `false`: 0; `true`: 0.5, which costs
   * up to 4 points; `auto`: 0.5 if the browser asks for less data, else 0.1, which costs up to 1.5. Default `auto`.
   */
  saveData?: 'auto' | boolean | number;
  /** `mpc-l`: weight of bad outcomes, 0 (best mean) to 1 (fewest stalls). Default 0.2. */
  risk?: number;
  /**
   * `mpc-l`: median watch time of your viewers in seconds, 1 to Infinity. A shorter time shows quality sooner and
   * buffers less. Default 30.
   */
  watchSeconds?: number;
  /**
   * `mpc-l`: if a download would stall playback, request a lower bitrate instead, at most four times per segment. Default
   * true.
   */
  abandon?: boolean;
  /** `mpc-l`: largest share of a session's requested bits that abandonment may waste, 0 to 1. Default 1. */
  maxWastedShare?: number;
  /**
   * `mpc-l`: keep statistics of the link in localStorage for the next session's start. Default
   * true.
   */
  prior?: boolean;
  /** `false`: the plugin touches no storage of the browser, and keeps no `prior`. Default true. */
  storage?: boolean;
  /** `mpc-l`: the page's own recent downloads are evidence for the first segment. Default false. */
  pageLoad?: boolean;
  /** Your own forecasters, asked in this order. `mpc-l` then asks the built-in forecaster. Default: none. */
  forecasters?: readonly Forecaster[];
  /** Source of UTC: `{ now(): { utcMs, uncertaintySeconds } }`. Default: the device's clock, right to 2 s. */
  timeSource?: TimeSource;
  /**
   * Sizes of the stream's segments, or their URL: `{"representations": {"<id>": [bytes per segment]}}`; live,
   * `firstIndex` is the index of the first. Default: the stream's own index, else estimates.
   */
  sizes?: SizesFile | string | URL;
  /** Playback rate and latency of live streams. Default: the stream's and the player's. */
  live?: LiveOptions;
  /** Send statistics in the player's requests (CMCD, CTA-5004), with the plugin's keys. Default false. */
  cmcd?: boolean;
  /** Seed of all random numbers, a whole number from 0 to 4294967295. Default 1. */
  seed?: number;
  /** Its `warn` gets the faults; `null`: none. Default `console`. */
  logger?: Logger | null;
  /**
   * One line per decision and change of rate: `true`: to `console.debug`; or a function that gets it. Default false.
   */
  debug?: boolean | ((line: string) => void);
}
