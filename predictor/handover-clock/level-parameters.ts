/** Constants of the evidence, fitted to recordings by scripts/evaluate-handover-clock.js; docs/handover-clock.md. */

import type { LevelParameters } from './level-filters.ts';

export const LEVEL_PARAMETERS: LevelParameters = {
  drift: 0.679,
  jump: 0.919,
  noise: 0.243,
  shortNoise: 0.134,
  dipNoise: 0.232,
  dipDepth: 1.75,
  dipSeconds: 0.708,
  lagSeconds: -0.196,
  floor: 0.61,
  steady: [
    [0.412, 0.35],
    [0.46, 2.73],
    [0.0162, 6.82],
    [0.898, 0.112],
  ],
  repeatSeconds: [30, 60, 90],
  leastVolatility: 0.000516,
};
