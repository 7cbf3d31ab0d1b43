/** The parameters of the synthetic Starlink link: their meaning and the fitted values (docs/findings.md). */

/** Kinds of link, in the order of the columns of `FITTED`. */
const CHARACTERS = [
  'stationary-calm',
  'stationary-hard',
  'driving-motorway',
  'driving-udp',
  'driving-tcp',
  'stationary-live',
  'inter-satellite-live',
] as const;
export type StarlinkCharacter = (typeof CHARACTERS)[number];

/**
 * Values found with `leo-abr trace fit --search` at commit c22c386. On a logit scale, rate = ceiling / (1 + exp(-z)),
 * ln rate has a long lower tail and a plateau at the top, as in recordings. Spreads are standard deviations of z. 0
 * switches a part off.
 */
const FITTED = {
  /** Ceiling of a trace in Mbit/s: median over traces, and standard deviation of its ln. */
  ceilingMbps: [397, 380, 434, 318, 278, 474, 203],
  ceilingSpread: [0.0084, 0.103, 0.107, 0.0925, 0.131, 0.134, 0.0169],
  /** Mean z of a trace: mean and standard deviation over traces. */
  meanZ: [1.22, -0.22, 0.301, -0.107, -1.93, 0.431, -0.266],
  meanSpread: [0.3, 0.514, 0.524, 0.639, 0.769, 0.126, 0.104],
  /** Factor of a trace's spreads: exp(variabilitySpread * normal - variabilityByMean * deviate of its mean z). */
  variabilitySpread: [0.392, 0.29, 0.7, 0.325, 0.467, 0.438, 0.388],
  variabilityByMean: [-0.207, 0.135, 0.0282, 0.259, -0.232, 0, 0],
  /** An epoch's own offset of z, correlated with the previous epoch's (0 to 1). */
  epochSpread: [0.341, 0.442, 0.475, 0.7, 0.399, 0.321, 0.964],
  epochCorrelation: [0.256, 0.0138, 0.233, 0.259, 0.839, 0.167, 0.753],
  /** Share of boundaries that keep the satellite and the offset; the dip occurs nevertheless. */
  keepShare: [0.65, 0.0609, 0.0291, 0.273, 0.276, 0, 0],
  /** Share of bad epochs, and their mean reduction of z (exponential): the heavy lower tail. */
  badEpochShare: [0.0279, 0.023, 0.0717, 0.0123, 0.0892, 0, 0],
  badEpochDepth: [1.17, 0.332, 1.44, 0.442, 1.21, 0, 0],
  /** Variation inside an epoch: a slow and a fast part, with their time constants in seconds. */
  slowSpread: [0.585, 0.331, 0.449, 0.164, 0.338, 0.148, 0],
  slowSeconds: [5.83, 5.28, 2.01, 2.24, 7.39, 4.44, 3.17],
  fastSpread: [0.125, 0.281, 0.324, 0.55, 0.158, 0.169, 0.102],
  fastSeconds: [0.4, 0.4, 0.4, 0.4, 0.4, 0.109, 0.102],
  /** White noise per 0.1 s, part of the trace's variability. */
  noiseSpread: [0, 0, 0, 0, 0, 0.287, 1.09],
  /** Slowly changing surroundings (buildings, trees, load of the cell): their spread and time constant. */
  surroundingsSpread: [0.121, 0.445, 0.149, 0.508, 0.268, 0.319, 0.0799],
  surroundingsSeconds: [20.8, 83.8, 38.4, 78.1, 53.7, 25.5, 36.2],
  /** Dip at a boundary: mean missing share of the capacity (uniform from 0 to twice that), seconds to recover. */
  dipDepth: [0.393, 0.42, 0.319, 0.24, 0.203, 0, 0],
  dipSeconds: [0.505, 0.926, 0.898, 1.89, 4.88, 0, 0],
  /** Cut at a boundary: missing share of the capacity, and median length in seconds. */
  cutDepth: [0, 0, 0, 0, 0, 0.801, 0.956],
  cutSeconds: [0, 0, 0, 0, 0, 0.0928, 0.292],
  /** Share of the cuts after which the capacity returns linearly (a flow recovers from losses), and its seconds. */
  collapseShare: [0, 0, 0, 0, 0, 0.42, 0.276],
  collapseSeconds: [0, 0, 0, 0, 0, 0.384, 0.379],
  /** Short fades: mean length in seconds (exponential); a uniform share of 0.1 to 0.8 of the capacity remains. */
  fadesPerHour: [22.4, 11, 122, 51.8, 230, 46.6, 0],
  fadeSeconds: [0.961, 6.4, 2.69, 1.72, 1.07, 0.25, 0],
  /** Blockages (no capacity) per hour: mean over traces, and standard deviation of the ln of a trace's own rate. */
  blockagesPerHour: [0.1, 0.3, 8.81, 52.2, 91.3, 0, 328],
  blockageIntensitySpread: [1, 1, 0.453, 0.655, 0.576, 0, 0],
  /** How bad surroundings cluster blockages: their rate is proportional to exp(-clustering * surroundings). */
  blockageClustering: [0, 0, 0.974, 0.897, 0.753, 0, 0],
  /** Length of a blockage: median in seconds and standard deviation of its ln; at most 60 s. */
  blockageSeconds: [1, 1, 2.29, 1.05, 0.586, 0, 0.117],
  blockageSpread: [0.8, 0.8, 0.971, 1.18, 1.49, 0, 1.19],
  /** Seconds in which the capacity returns linearly after a blockage. */
  recoverySeconds: [0.3, 0.3, 0.451, 0.185, 10, 0.426, 0.199],
  /** Round-trip time: median in ms, standard deviation of the ln between epochs, mean jitter in ms. Not fitted. */
  rttMs: [26, 26, 45, 45, 45, 26, 172],
  rttEpochSpread: [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2],
  rttJitterMs: [6, 6, 8, 8, 8, 6, 6],
} as const;

export type StarlinkParameters = { -readonly [Name in keyof typeof FITTED]: number };

export const STARLINK_CHARACTERS = Object.fromEntries(
  CHARACTERS.map((character, column) => [
    character,
    Object.fromEntries(Object.entries(FITTED).map(([name, values]) => [name, values[column]])),
  ]),
) as Readonly<Record<StarlinkCharacter, Readonly<StarlinkParameters>>>;

/** Mixtures: each trace draws one of these characters, all equally likely. */
export const STARLINK_MIXTURES = {
  stationary: ['stationary-calm', 'stationary-hard'],
  driving: ['driving-motorway', 'driving-udp', 'driving-tcp'],
} as const satisfies Readonly<Record<string, readonly StarlinkCharacter[]>>;

export type StarlinkMixture = keyof typeof STARLINK_MIXTURES;
