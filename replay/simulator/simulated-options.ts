/** The options of a session in the simulator. */

import type { Controller, Forecaster } from '../../abr/index.ts';
import { LARGEST_HORIZON } from '../../abr/state/horizon.ts';
import { Forecasting } from '../../session/forecasting/forecasting.ts';
import type { ResolvedOptions } from '../../session/page/options.ts';

/** Uncertainty of the player's UTC, as of a device's clock. */
const UTC_UNCERTAINTY_SECONDS = 2;

interface Given extends Pick<ResolvedOptions, 'host' | 'weightsOf' | 'quality' | 'seed'> {
  controller: Controller;
  forecaster: Forecaster | undefined;
  downloadsKept: number | undefined;
  utcMs(): number;
}

export function sessionOptions({ controller, forecaster, downloadsKept, utcMs, ...given }: Given): ResolvedOptions {
  const { seed } = given;
  return {
    ...given,
    debug: false,
    logger: null,
    timeSource: { now: () => ({ utcMs: utcMs(), uncertaintySeconds: UTC_UNCERTAINTY_SECONDS }) },
    live: {},
    cmcd: false,
    sizes: undefined,
    usesQuality: true,
    horizon: LARGEST_HORIZON,
    controllerName: controller.name,
    newController: () => controller,
    newForecasting:
      forecaster &&
      (({ events }) =>
        new Forecasting({
          events,
          forecasters: [forecaster],
          hasPageForecasters: false,
          seed,
        })),
    ...(downloadsKept !== undefined && { downloadsKept }),
  };
}
