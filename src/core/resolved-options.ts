/** The complete options of an attachment, with the parts of the core that not all entries have. */

import type { Controller } from '../../abr/controller.ts';
import type { Events } from './events.ts';
import type { Forecasting } from './forecasting.ts';
import type { SharedOptions } from './options.ts';
import type { Pacing, PacingParts } from './pacing.ts';

export interface ResolvedOptions extends SharedOptions {
  /** The controller gets the sizes of at least this many segments. */
  horizon: number;
  controllerName: string;
  newController: () => Controller;
  /** Undefined where the player alone sets the playback rate. */
  newPacing?: ((parts: PacingParts) => Pacing) | undefined;
  /** Makes the controller's forecasts; undefined without forecasters. */
  newForecasting?: ((surroundings: Surroundings) => Forecasting) | undefined;
}

/** The parts of an attachment that forecasts need. */
export interface Surroundings {
  events: Events;
  /** The stream's origin, `https://host:port`; undefined if it has none. */
  origin: () => string | undefined;
}
