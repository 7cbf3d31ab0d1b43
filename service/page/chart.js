/** The chart of the link: what the service saw of the last minute, and its forecast. Pure. */

/** @import { QuantileForecast } from '../../abr/forecast.ts' */

export const PAST_SECONDS = 60;
export const FUTURE_SECONDS = 15;
const EPOCH_SECONDS = 15;
/** Quantiles further out are not drawn: they would set the scale. */
const OUTERMOST = 0.05;
/** Space for the labels, in pixels. */
const LEFT = 34;
const BOTTOM = 18;
const TOP = 8;
/** A longer gap between samples interrupts a line: the page was hidden, or the service was away. */
const GAP_SECONDS = 3.5;

/**
 * @typedef {object} Sample What was known at one moment; null: nothing.
 * @property {number} atSeconds from now, at most 0
 * @property {number | null} usageBps
 * @property {number | null} expectedBps
 */

/**
 * @typedef {object} Chart SVG paths and positions in pixels.
 * @property {{ path: string, label: string }[]} fan from the widest range of quantiles to the narrowest
 * @property {string} median
 * @property {string} usage
 * @property {string} expected
 * @property {number[]} handovers
 * @property {number} now
 * @property {{ y: number, label: string }[]} rates in Mbit/s
 * @property {{ x: number, label: string }[]} times
 */

/**
 * Times are seconds from now. Handovers are every 15 s from `handoverSeconds`; undefined: unknown.
 * @param {{ width: number, height: number, samples: readonly Sample[],
 *   forecast: Pick<QuantileForecast, 'stepEndsSeconds' | 'levels' | 'quantilesBps'> & { issuedSeconds: number } | undefined,
 *   handoverSeconds: number | undefined }} given
 * @returns {Chart}
 */
export function chartOf({ width, height, samples, forecast, handoverSeconds }) {
  const bottom = height - BOTTOM;
  const shown = samples.filter(({ atSeconds }) => atSeconds >= -PAST_SECONDS);
  const steps = forecast === undefined ? [] : stepsOf(forecast);
  const levels = forecast?.levels ?? [];
  const middle = levels.findIndex((level) => level >= 0.5);
  const ranges = levels.flatMap((level, low) => {
    return level >= OUTERMOST && low < middle ? [{ low, high: levels.length - 1 - low }] : [];
  });
  const highest = Math.max(
    1e6,
    ...shown.flatMap(({ usageBps, expectedBps }) => [usageBps ?? 0, expectedBps ?? 0]),
    ...steps.flatMap(({ bps }) => bps[ranges[0]?.high ?? middle] ?? 0),
  );
  const unitBps = niceUnit(highest / 4);
  const topBps = unitBps * Math.ceil(highest / unitBps);
  /** @param {number} seconds */
  const x = (seconds) => LEFT + ((seconds + PAST_SECONDS) / (PAST_SECONDS + FUTURE_SECONDS)) * (width - LEFT);
  /** @param {number} bps */
  const y = (bps) => bottom - (bps / topBps) * (bottom - TOP);
  /** @param {number} seconds @param {number} bps */
  const point = (seconds, bps) => `${x(seconds).toFixed(1)} ${y(bps).toFixed(1)}`;
  /** @param {'usageBps' | 'expectedBps'} of */
  const line = (of) => {
    let path = '';
    let lastSeconds = Number.NEGATIVE_INFINITY;
    for (const { atSeconds, [of]: bps } of shown) {
      if (bps === null) continue;
      path += `${atSeconds - lastSeconds > GAP_SECONDS ? 'M' : 'L'}${point(atSeconds, bps)}`;
      lastSeconds = atSeconds;
    }
    return path;
  };
  /** @param {number} level */
  const along = (level) => {
    return steps.flatMap(({ from, to, bps }) => [point(from, bps[level] ?? 0), point(to, bps[level] ?? 0)]);
  };
  const fan = ranges.flatMap(({ low, high }) => {
    const path = `M${[...along(low), ...along(high).reverse()].join('L')}Z`;
    const [from, to] = [low, high].map((level) => Math.round((levels[level] ?? 0) * 100));
    return steps.length === 0 ? [] : [{ path, label: `${from} to ${to} %` }];
  });
  const first =
    handoverSeconds === undefined ? Number.POSITIVE_INFINITY : (handoverSeconds % EPOCH_SECONDS) - PAST_SECONDS;
  const handovers = [];
  for (let at = first; at <= FUTURE_SECONDS; at += EPOCH_SECONDS) if (at >= -PAST_SECONDS) handovers.push(x(at));
  return {
    fan,
    median: steps.length > 0 ? `M${along(middle).join('L')}` : '',
    usage: line('usageBps'),
    expected: line('expectedBps'),
    handovers,
    now: x(0),
    rates: Array.from({ length: Math.round(topBps / unitBps) + 1 }, (_, i) => {
      return { y: y(i * unitBps), label: String(Number(((i * unitBps) / 1e6).toPrecision(3))) };
    }),
    times: [-60, -45, -30, -15, 0, 15].map((at) => ({
      x: x(at),
      label: at === 0 ? 'now' : `${at < 0 ? '−' : '+'}${Math.abs(at)} s`,
    })),
  };
}

/**
 * The steps of a forecast that are shown, at most 15 s ahead.
 * @param {{ stepEndsSeconds: readonly number[], quantilesBps: readonly (readonly number[])[], issuedSeconds: number }} forecast
 */
function stepsOf({ stepEndsSeconds, quantilesBps, issuedSeconds }) {
  return stepEndsSeconds.flatMap((end, i) => {
    const from = Math.max(-PAST_SECONDS, issuedSeconds + (stepEndsSeconds[i - 1] ?? 0));
    const to = Math.min(FUTURE_SECONDS, issuedSeconds + end);
    return to > from ? [{ from, to, bps: quantilesBps[i] ?? [] }] : [];
  });
}

/** 1, 2 or 5 times a power of ten, at least `value`. @param {number} value */
function niceUnit(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((factor) => factor * power >= value) ?? 10);
}
