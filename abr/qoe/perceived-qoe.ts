/**
 * What viewers see of a session, in units of quality, 0 to 100 (`quality.ts`):
 *
 *   perceived QoE = ( sum q * segmentSeconds/4 - prices of startup and freezes - prices of falls and rises of q )
 *                   / (media seconds / 4)
 *
 * This is the quality of undisturbed 4 s of media, on the same scale for every ladder. Stalls may make it negative.
 */

import { QOE_UNIT_SECONDS, type QoeWeights } from './qoe.ts';

export interface PerceivedPrices {
  /** Cost of a freeze's begin, less if it is short (`beginShare`), and of each of its seconds of the clock. */
  stall: number;
  stallSecond: number;
  startupSecond: number;
  /** Cost of a fall and of a rise of quality by one unit. */
  fall: number;
  rise: number;
}

/** From `npm run fit-quality`; quality.md has the sources. */
export const PERCEIVED_PRICES: PerceivedPrices = {
  stall: 18.8,
  stallSecond: 14.8,
  startupSecond: 3.59,
  fall: 0.922,
  rise: 0,
};

/**
 * Points of quality that a Mbit/s must add: by default, and for viewers who save data. quality.md says how both are
 * chosen.
 */
export const USUAL_PRICE_PER_MBPS = 0.1;
export const SAVING_PRICE_PER_MBPS = 0.5;

/**
 * The weights that plan on what viewers see. `pricePerMbps`: see `QoeWeights`. Startup costs as
 * much as a stall, because viewers who wait leave (Krishnan and Sitaraman, IMC 2012), which ratings of whole clips do
 * not show. Live plans sum quality over seconds instead of units of 4 s, as LoL+ does.
 */
export function perceivedWeights(
  qualityOf: (bitrateBps: number) => number,
  { pricePerMbps = 0, isLive = false }: { pricePerMbps?: number; isLive?: boolean } = {},
): QoeWeights {
  const { stall, stallSecond, fall, rise } = PERCEIVED_PRICES;
  const units = isLive ? QOE_UNIT_SECONDS : 1;
  return {
    quality: qualityOf,
    pricePerMbps,
    mu: units * stallSecond,
    stall: units * stall,
    lambda: units * fall,
    rise: units * rise,
  };
}
