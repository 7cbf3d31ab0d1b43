/** The options of a session in the simulator. */

import type { Controller, Forecaster } from '../../abr/index.ts';
import { LARGEST_HORIZON } from '../../abr/state/horizon.ts';
import { Forecasting } from '../../session/forecasting/forecasting.ts';
import type { Host } from '../../session/host.ts';
import type { ResolvedOptions } from '../../session/page/options.ts';

/** Uncertainty of the player's UTC, as of a device's clock. */
const UTC_UNCERTAINTY_SECONDS = 2;

interface Given {
  host: Host;
  controller: Controller;
  weightsOf: ResolvedOptions['weightsOf'];
  quality: ResolvedOptions['quality'];
  forecaster: Forecaster | undefined;
  seed: number;
  downloadsKept: number | undefined;
  utcMs(): number;
}

export function sessionOptions(given: Given): ResolvedOptions {
  const { host, controller, weightsOf, quality, forecaster, seed, downloadsKept } = given;
  return {
    host,
    seed,
    debug: false,
    logger: null,
    timeSource: { now: () => ({ utcMs: given.utcMs(), uncertaintySeconds: UTC_UNCERTAINTY_SECONDS }) },
    live: {},
    cmcd: false,
    sizes: undefined,
    horizon: LARGEST_HORIZON,
    controllerName: controller.name,
    newController: () => controller,
    weightsOf,
    quality,
    pricePerMbps: 0,
    newForecasting:
      forecaster &&
      (({ events }) =>
        new Forecasting({
          events,
          forecasters: [forecaster],
          hasPageForecasters: false,
          seed,
          pageLoad: () => host.pageLoad(),
        })),
    ...(downloadsKept !== undefined && { downloadsKept }),
  };
}
