/** The options of the plugin, the same for all players. `options.ts` has their checks and defaults. */

import type { Controller } from '../../abr/controller.ts';
import type { Forecaster } from '../../abr/forecast.ts';
import type { Objective, QoeWeights } from '../../abr/qoe/qoe.ts';
import type { GivenQualities } from '../requests/segment-qualities.ts';
import type { SizesFile } from '../requests/segment-sizes.ts';
import type { Logger } from './events.ts';

/** UTC and its uncertainty. */
export interface TimeSource {
  now(): { utcMs: number; uncertaintySeconds: number };
}

/** How a live stream may play. Defaults are the stream's and the player's. */
export interface LiveOptions {
  /** Slowest playback rate, 0.5 to 1. Default: the stream's or the player's; 0.95 where neither sets one. */
  minPlaybackRate?: number;
  /** Fastest playback rate, 1 to 2. Default: the stream's or the player's; 1.05 where neither sets one. */
  maxPlaybackRate?: number;
  /** Target latency in seconds; `auto` leaves it to a controller that can choose one. Default: the player's. */
  targetLatencySeconds?: number | 'auto';
  /**
   * Playback that is later than this jumps to the target: a latency in seconds, larger than the target (a smaller one is
   * ignored). Default: the player's.
   */
  maxLatencySeconds?: number;
}

/** Names for the option `controller`. */
export const CONTROLLER_NAMES = ['mpc-l', 'mpc-d'] as const;
export type ControllerName = (typeof CONTROLLER_NAMES)[number];

export interface LeoAbrOptions {
  /**
   * The controller: a name, or your own object. A named one is made anew for every source of the player; an object is
   * shared by all. Default `mpc-l`.
   */
  controller?: ControllerName | Controller;
  /** Segments that a named controller plans ahead, 1 to 20. Default: the controller's own. */
  horizon?: number;
  /**
   * What a named controller maximises: `perceived`, quality as people see it (from `quality`, else from bitrate, picture
   * size, codec and the size on screen); or the bitrate, `linear` or `log`. Default: `perceived`, of `mpc-d` `linear`.
   */
  qoe?: Objective;
  /**
   * With `qoe: 'perceived'`: the measured quality of each segment, as `leo-abr quality` writes it, or its URL; or a function
   * of representation id and segment index, from 0 to 100. Default: the model of quality.
   */
  quality?: GivenQualities;
  /**
   * With `qoe: 'perceived'`: what a Mbit/s costs in quality, 0 to 100; `true`: 2; `auto`: 2 where the browser asks for less
   * data (`navigator.connection.saveData`), else 0. Default `auto`.
   */
  saveData?: 'auto' | boolean | number;
  /** Only `mpc-l`: how much it avoids stalls beyond their cost in QoE, 0 to 1. Default 0.2. */
  risk?: number;
  /**
   * Only `mpc-l`: how long half of your viewers watch, in seconds, at least 1; `Infinity`: all of them to the end. A shorter
   * time shows quality sooner and buffers less for later. Default 30.
   */
  watchSeconds?: number;
  /** Only `mpc-l`: abandon a download that would stall playback, for a lower bitrate. Default true. */
  abandon?: boolean;
  /** Only `mpc-l`: largest share of a session's requested bits that abandonment may waste, 0 to 1. Default 1. */
  maxWastedShare?: number;
  /**
   * Only `mpc-l`: keep statistics of the link in localStorage, per origin of the stream, so that the next session need
   * not start at the lowest bitrate. Default true.
   */
  prior?: boolean;
  /**
   * Only `mpc-l`: what the page has loaded of late (Resource Timing) is evidence for the first segment. Leave it off where
   * the page comes from a much nearer server than the video. Default false.
   */
  pageLoad?: boolean;
  /**
   * Your own forecasters, asked in this order. `mpc-l` asks its built-in one after them; other controllers have no
   * other. Default: none.
   */
  forecasters?: readonly Forecaster[];
  /** Source of UTC, for handovers. Default: the device's clock, with an uncertainty of 2 s. */
  timeSource?: TimeSource;
  /**
   * Sizes of the stream's segments, or their URL: `{"representations": {"<id>": [bytes per segment]}}`. Default: the
   * stream's own index if it has one, else estimates from earlier downloads.
   */
  sizes?: SizesFile | string | URL;
  /** Playback rate and latency of live streams. */
  live?: LiveOptions;
  /**
   * Turn on the player's CMCD (CTA-5004), and add the plugin's keys to the value in its requests: forecast source,
   * capacity, next handover. A page's own configuration of CMCD stays. Default false.
   */
  cmcd?: boolean;
  /** Seed of all random numbers, a whole number from 0 to 4294967295. Default 1. */
  seed?: number;
  /** Faults are written here as well as emitted; `null` for nowhere. Default `console`. */
  logger?: Logger | null;
  /** One line per decision and pace: `true` for `console.debug`, or a function that gets it. Default false. */
  debug?: boolean | ((line: string) => void);
}

/** For the project's own tools; not part of the public interface. */
export interface InternalOptions {
  /** Prices of the plan. Default: those of `qoe` for the ladder. */
  weights?: QoeWeights;
  /** Wraps each controller, to time its answers. */
  observed?: (controller: Controller) => Controller;
}
