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
    ceilingMbps: 397,
    ceilingSpread: 0.0084,
    meanZ: 1.22,
    meanSpread: 0.3,
    variabilitySpread: 0.392,
    variabilityByMean: -0.207,
    levelSpread: 0.341,
    levelCorrelation: 0.256,
    keepShare: 0.65,
    badEpochShare: 0.0279,
    badEpochDepth: 1.17,
    slowSpread: 0.585,
    slowSeconds: 5.83,
    fastSpread: 0.125,
    surroundingsSpread: 0.121,
    surroundingsSeconds: 20.8,
    dipDepth: 0.393,
    dipSeconds: 0.505,
    fadesPerHour: 22.4,
    fadeSeconds: 0.961,
    blockagesPerHour: 0.1,
    blockageIntensitySpread: 1,
    blockageClustering: 0,
    blockageSeconds: 1,
    blockageSpread: 0.8,
    recoverySeconds: 0.3,
    ...STATIONARY_RTT,
  },
  'stationary-hard': {
    ceilingMbps: 380,
    ceilingSpread: 0.103,
    meanZ: -0.22,
    meanSpread: 0.514,
    variabilitySpread: 0.29,
    variabilityByMean: 0.135,
    levelSpread: 0.442,
    levelCorrelation: 0.0138,
    keepShare: 0.0609,
    badEpochShare: 0.023,
    badEpochDepth: 0.332,
    slowSpread: 0.331,
    slowSeconds: 5.28,
    fastSpread: 0.281,
    surroundingsSpread: 0.445,
    surroundingsSeconds: 83.8,
    dipDepth: 0.42,
    dipSeconds: 0.926,
    fadesPerHour: 11,
    fadeSeconds: 6.4,
    blockagesPerHour: 0.3,
    blockageIntensitySpread: 1,
    blockageClustering: 0,
    blockageSeconds: 1,
    blockageSpread: 0.8,
    recoverySeconds: 0.3,
    ...STATIONARY_RTT,
  },
  'driving-motorway': {
    ceilingMbps: 434,
    ceilingSpread: 0.107,
    meanZ: 0.301,
    meanSpread: 0.524,
    variabilitySpread: 0.7,
    variabilityByMean: 0.0282,
    levelSpread: 0.475,
    levelCorrelation: 0.233,
    keepShare: 0.0291,
    badEpochShare: 0.0717,
    badEpochDepth: 1.44,
    slowSpread: 0.449,
    slowSeconds: 2.01,
    fastSpread: 0.324,
    surroundingsSpread: 0.149,
    surroundingsSeconds: 38.4,
    dipDepth: 0.319,
    dipSeconds: 0.898,
    fadesPerHour: 122,
    fadeSeconds: 2.69,
    blockagesPerHour: 8.81,
    blockageIntensitySpread: 0.453,
    blockageClustering: 0.974,
    blockageSeconds: 2.29,
    blockageSpread: 0.971,
    recoverySeconds: 0.451,
    ...DRIVING_RTT,
  },
  'driving-udp': {
    ceilingMbps: 318,
    ceilingSpread: 0.0925,
    meanZ: -0.107,
    meanSpread: 0.639,
    variabilitySpread: 0.325,
    variabilityByMean: 0.259,
    levelSpread: 0.7,
    levelCorrelation: 0.259,
    keepShare: 0.273,
    badEpochShare: 0.0123,
    badEpochDepth: 0.442,
    slowSpread: 0.164,
    slowSeconds: 2.24,
    fastSpread: 0.55,
    surroundingsSpread: 0.508,
    surroundingsSeconds: 78.1,
    dipDepth: 0.24,
    dipSeconds: 1.89,
    fadesPerHour: 51.8,
    fadeSeconds: 1.72,
    blockagesPerHour: 52.2,
    blockageIntensitySpread: 0.655,
    blockageClustering: 0.897,
    blockageSeconds: 1.05,
    blockageSpread: 1.18,
    recoverySeconds: 0.185,
    ...DRIVING_RTT,
  },
  'driving-tcp': {
    ceilingMbps: 278,
    ceilingSpread: 0.131,
    meanZ: -1.93,
    meanSpread: 0.769,
    variabilitySpread: 0.467,
    variabilityByMean: -0.232,
    levelSpread: 0.399,
    levelCorrelation: 0.839,
    keepShare: 0.276,
    badEpochShare: 0.0892,
    badEpochDepth: 1.21,
    slowSpread: 0.338,
    slowSeconds: 7.39,
    fastSpread: 0.158,
    surroundingsSpread: 0.268,
    surroundingsSeconds: 53.7,
    dipDepth: 0.203,
    dipSeconds: 4.88,
    fadesPerHour: 230,
    fadeSeconds: 1.07,
    blockagesPerHour: 91.3,
    blockageIntensitySpread: 0.576,
    blockageClustering: 0.753,
    blockageSeconds: 0.586,
    blockageSpread: 1.49,
    recoverySeconds: 10,
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
