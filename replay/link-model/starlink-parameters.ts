/** The parameters of the synthetic Starlink link: what each one means and the fitted values (docs/link-model.md). */

/**
 * A character of link. The capacity lives on a logit scale: rate = ceiling / (1 + exp(-z)), which has a long lower tail
 * in the log of the rate and a plateau at the top, as recordings have. Spreads are standard deviations of z.
 */
export interface StarlinkParameters {
  /** Ceiling of a trace in Mbit/s: median over traces, and standard deviation of its ln. */
  ceilingMbps: number;
  ceilingSpread: number;
  /** Mean z of a trace: mean and standard deviation over traces. */
  meanZ: number;
  meanSpread: number;
  /** Each trace's spreads are multiplied by exp(variabilitySpread * normal - variabilityByMean * its mean's deviate). */
  variabilitySpread: number;
  variabilityByMean: number;
  /** Level of an epoch, correlated from one epoch to the next (0 to 1). */
  levelSpread: number;
  levelCorrelation: number;
  /** Share of boundaries that keep satellite and level; the dip comes all the same. */
  keepShare: number;
  /** Share of epochs that are bad, and how much lower their z is in the mean (exponential): the heavy lower tail. */
  badEpochShare: number;
  badEpochDepth: number;
  /** Variation inside an epoch: a slow part with a time constant in seconds, and a fast one (0.4 s). */
  slowSpread: number;
  slowSeconds: number;
  fastSpread: number;
  /** Surroundings (buildings, trees, load of the cell) that change slowly: their part of z, time constant in seconds. */
  surroundingsSpread: number;
  surroundingsSeconds: number;
  /** Dip at a boundary: mean share of capacity missing at its start (each uniform from 0 to twice that), seconds to recover. */
  dipDepth: number;
  dipSeconds: number;
  /** Short fades per hour, mean length in seconds (exponential); each leaves a uniform share of 0.1 to 0.8. */
  fadesPerHour: number;
  fadeSeconds: number;
  /** Blockages (no capacity at all) per hour: mean over traces, and standard deviation of the ln of a trace's own rate. */
  blockagesPerHour: number;
  blockageIntensitySpread: number;
  /** How much more often bad surroundings block: the rate varies with exp(-clustering * surroundings). */
  blockageClustering: number;
  /** Length of a blockage: median in seconds and standard deviation of its ln; at most 60 s. */
  blockageSeconds: number;
  blockageSpread: number;
  /** Seconds in which capacity comes back after a blockage, linearly. */
  recoverySeconds: number;
  /** Round-trip time of a trace in ms: median; its epochs vary by a standard deviation of ln, samples by one in ms. */
  rttMs: number;
  rttEpochSpread: number;
  rttJitterMs: number;
}

const STATIONARY_RTT = { rttMs: 26, rttEpochSpread: 0.2, rttJitterMs: 6 };
const DRIVING_RTT = { rttMs: 45, rttEpochSpread: 0.2, rttJitterMs: 8 };

/** Fitted with `leo-abr trace fit --search`; which recordings each one is fitted to is in docs/link-model.md. */
export const STARLINK_CHARACTERS = {
  'stationary-calm': {
    ceilingMbps: 385,
    ceilingSpread: 0.02,
    meanZ: 1.3,
    meanSpread: 0.4,
    variabilitySpread: 0.4,
    variabilityByMean: 0.4,
    levelSpread: 0.6,
    levelCorrelation: 0.3,
    keepShare: 0.2,
    badEpochShare: 0.05,
    badEpochDepth: 1,
    slowSpread: 0.4,
    slowSeconds: 4,
    fastSpread: 0.3,
    surroundingsSpread: 0.2,
    surroundingsSeconds: 120,
    blockageClustering: 0,
    dipDepth: 0.35,
    dipSeconds: 1,
    fadesPerHour: 10,
    fadeSeconds: 2,
    blockagesPerHour: 0.2,
    blockageIntensitySpread: 1,
    blockageSeconds: 1.5,
    blockageSpread: 0.8,
    recoverySeconds: 0.3,
    ...STATIONARY_RTT,
  },
  'stationary-hard': {
    ceilingMbps: 380,
    ceilingSpread: 0.15,
    meanZ: -0.3,
    meanSpread: 0.5,
    variabilitySpread: 0.3,
    variabilityByMean: 0.2,
    levelSpread: 0.7,
    levelCorrelation: 0.1,
    keepShare: 0.1,
    badEpochShare: 0.05,
    badEpochDepth: 1,
    slowSpread: 0.4,
    slowSeconds: 4,
    fastSpread: 0.4,
    surroundingsSpread: 0.3,
    surroundingsSeconds: 120,
    blockageClustering: 0,
    dipDepth: 0.5,
    dipSeconds: 1.2,
    fadesPerHour: 20,
    fadeSeconds: 2,
    blockagesPerHour: 0.5,
    blockageIntensitySpread: 1,
    blockageSeconds: 1.5,
    blockageSpread: 0.8,
    recoverySeconds: 0.3,
    ...STATIONARY_RTT,
  },
  'driving-motorway': {
    ceilingMbps: 440,
    ceilingSpread: 0.1,
    meanZ: 0,
    meanSpread: 0.8,
    variabilitySpread: 0.4,
    variabilityByMean: 0.2,
    levelSpread: 0.8,
    levelCorrelation: 0.1,
    keepShare: 0.1,
    badEpochShare: 0.05,
    badEpochDepth: 1,
    slowSpread: 0.5,
    slowSeconds: 3,
    fastSpread: 0.6,
    surroundingsSpread: 0.4,
    surroundingsSeconds: 40,
    blockageClustering: 0.8,
    dipDepth: 0.4,
    dipSeconds: 1,
    fadesPerHour: 120,
    fadeSeconds: 2,
    blockagesPerHour: 8,
    blockageIntensitySpread: 1.5,
    blockageSeconds: 2,
    blockageSpread: 1,
    recoverySeconds: 0.5,
    ...DRIVING_RTT,
  },
  'driving-udp': {
    ceilingMbps: 330,
    ceilingSpread: 0.2,
    meanZ: -0.1,
    meanSpread: 0.7,
    variabilitySpread: 0.4,
    variabilityByMean: 0.2,
    levelSpread: 0.8,
    levelCorrelation: 0.3,
    keepShare: 0.1,
    badEpochShare: 0.05,
    badEpochDepth: 1,
    slowSpread: 0.6,
    slowSeconds: 4,
    fastSpread: 0.7,
    surroundingsSpread: 0.5,
    surroundingsSeconds: 60,
    blockageClustering: 0.8,
    dipDepth: 0.3,
    dipSeconds: 1,
    fadesPerHour: 150,
    fadeSeconds: 2,
    blockagesPerHour: 22,
    blockageIntensitySpread: 1.5,
    blockageSeconds: 2,
    blockageSpread: 1,
    recoverySeconds: 0.5,
    ...DRIVING_RTT,
  },
  'driving-tcp': {
    ceilingMbps: 250,
    ceilingSpread: 0.3,
    meanZ: -2,
    meanSpread: 0.7,
    variabilitySpread: 0.3,
    variabilityByMean: 0.1,
    levelSpread: 1,
    levelCorrelation: 0.4,
    keepShare: 0.1,
    badEpochShare: 0.08,
    badEpochDepth: 1.5,
    slowSpread: 0.8,
    slowSeconds: 5,
    fastSpread: 0.4,
    surroundingsSpread: 0.5,
    surroundingsSeconds: 60,
    blockageClustering: 0.8,
    dipDepth: 0.3,
    dipSeconds: 4,
    fadesPerHour: 100,
    fadeSeconds: 2,
    blockagesPerHour: 45,
    blockageIntensitySpread: 1,
    blockageSeconds: 2,
    blockageSpread: 1,
    recoverySeconds: 3,
    ...DRIVING_RTT,
  },
} as const satisfies Readonly<Record<string, StarlinkParameters>>;

export type StarlinkCharacter = keyof typeof STARLINK_CHARACTERS;

/** Mixtures: each trace draws one of these characters, all equally likely. */
export const STARLINK_MIXTURES = {
  stationary: ['stationary-calm', 'stationary-hard'],
  driving: ['driving-motorway', 'driving-udp', 'driving-tcp'],
} as const satisfies Readonly<Record<string, readonly StarlinkCharacter[]>>;

export type StarlinkMixture = keyof typeof STARLINK_MIXTURES;
