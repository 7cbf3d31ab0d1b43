/** Computes the charts: the last minute with the forecast of the link, and the outages of the last hour. Pure. */

/** @import { QuantileForecast } from '../../abr/forecast.ts' */

const PAST_SECONDS = 60;
const FUTURE_SECONDS = 15;
const EPOCH_SECONDS = 15;
const HOUR_SECONDS = 3600;
/** Quantiles further out are not drawn, because they would set the scale. */
const OUTERMOST = 0.05;
/** Space for the labels and at the top, in pixels. */
const LEFT = 34;
const BOTTOM = 18;
const TOP = 8;
/** A longer gap interrupts a line: the dish did not answer, or the service had no forecast. */
const GAP_SECONDS = 3.5;

/** @typedef {readonly { atSeconds: number, bps: number }[]} Rates in order of time, in seconds from now, at most 0 */

/**
 * Times are seconds from now. Handovers are every 15 s from `handoverSeconds`, which is undefined if it is unknown.
 * Returns SVG paths and positions in pixels. `fan` begins with the widest range of quantiles. `rates` are in Mbit/s.
 * @param {{ width: number, height: number, usage: Rates, expected: Rates,
 *   forecast: Pick<QuantileForecast, 'stepEndsSeconds' | 'levels' | 'quantilesBps'> & { issuedSeconds: number } | undefined,
 *   handoverSeconds: number | undefined }} given
 */
export function chartOf({ width, height, usage, expected, forecast, handoverSeconds }) {
  const bottom = height - BOTTOM;
  /** @param {Rates} rates */
  const inView = (rates) => rates.filter(({ atSeconds }) => atSeconds >= -PAST_SECONDS);
  const [shownUsage, shownExpected] = [inView(usage), inView(expected)];
  const steps = forecast === undefined ? [] : stepsOf(forecast);
  const levels = forecast?.levels ?? [];
  const middle = levels.findIndex((level) => level >= 0.5);
  const ranges = levels.flatMap((level, low) => {
    return level >= OUTERMOST && low < middle ? [{ low, high: levels.length - 1 - low }] : [];
  });
  const highest = Math.max(
    1e6,
    ...[...shownUsage, ...shownExpected].map(({ bps }) => bps),
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
  /** @param {Rates} rates */
  const line = (rates) => {
    const steps = rates.map(({ atSeconds, bps }, i) => {
      const isNew = atSeconds - (rates[i - 1]?.atSeconds ?? Number.NEGATIVE_INFINITY) > GAP_SECONDS;
      return `${isNew ? 'M' : 'L'}${point(atSeconds, bps)}`;
    });
    return steps.join('');
  };
  /** @param {number} level */
  const along = (level) => steps.flatMap(({ from, to, bps }) => [from, to].map((at) => point(at, bps[level] ?? 0)));
  const fan = ranges.flatMap(({ low, high }) => {
    const path = `M${[...along(low), ...along(high).reverse()].join('L')}Z`;
    const [from, to] = [low, high].map((level) => Math.round((levels[level] ?? 0) * 100));
    return steps.length === 0 ? [] : [{ path, label: `${from} to ${to} %` }];
  });
  return {
    fan,
    median: steps.length > 0 ? `M${along(middle).join('L')}` : '',
    usage: line(shownUsage),
    expected: line(shownExpected),
    handovers: handoversInView(handoverSeconds).map(x),
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
 * Draws the last hour: per observed minute a ground, a bar of obstructed seconds, and on top a bar of other outages.
 * @param {{ width: number, height: number,
 *   minutes: readonly { startSeconds: number, outageSeconds: number, obstructedSeconds: number }[] }} given
 */
export function hourOf({ width, height, minutes }) {
  const bottom = height - BOTTOM;
  const most = Math.max(...minutes.map(({ outageSeconds, obstructedSeconds }) => outageSeconds + obstructedSeconds));
  const topSeconds = most > 30 ? 60 : most > 10 ? 30 : 10;
  /** @param {number} seconds */
  const x = (seconds) => LEFT + (1 + Math.min(0, Math.max(-HOUR_SECONDS, seconds)) / HOUR_SECONDS) * (width - LEFT);
  /** @param {number} seconds */
  const tall = (seconds) => (seconds / topSeconds) * (bottom - TOP);
  const bars = minutes.flatMap(({ startSeconds, outageSeconds, obstructedSeconds }) => {
    const [from, to] = [x(startSeconds), x(startSeconds + 60)];
    const [lower, upper] = [tall(obstructedSeconds), tall(outageSeconds)];
    const parts = [
      { style: 'observed', y: bottom, height: 3 },
      { style: 'obstructed', y: bottom - lower, height: lower },
      { style: 'outage', y: bottom - lower - upper, height: upper },
    ];
    return parts.map((part) => ({ ...part, x: from, width: Math.max(0, to - from - 1) }));
  });
  const rates = [0, topSeconds].map((seconds) => ({ y: bottom - tall(seconds), label: `${seconds} s` }));
  const times = [-60, -40, -20, 0].map((minute) => {
    return { x: x(60 * minute), label: minute === 0 ? 'now' : `−${-minute} min` };
  });
  return { bars: bars.filter((bar) => bar.height > 0), rates, times };
}

/** @param {number | undefined} handoverSeconds of any handover; undefined if it is unknown */
function handoversInView(handoverSeconds = Number.NaN) {
  const first = (handoverSeconds % EPOCH_SECONDS) - PAST_SECONDS;
  const all = Array.from({ length: 7 }, (_, i) => first + i * EPOCH_SECONDS);
  return all.filter((at) => at >= -PAST_SECONDS && at <= FUTURE_SECONDS);
}

/**
 * Clips the steps of a forecast to the chart, at most 15 s ahead.
 * @param {{ stepEndsSeconds: readonly number[], quantilesBps: readonly (readonly number[])[], issuedSeconds: number }} forecast
 */
function stepsOf({ stepEndsSeconds, quantilesBps, issuedSeconds }) {
  return stepEndsSeconds.flatMap((end, i) => {
    const from = Math.max(-PAST_SECONDS, issuedSeconds + (stepEndsSeconds[i - 1] ?? 0));
    const to = Math.min(FUTURE_SECONDS, issuedSeconds + end);
    return to > from ? [{ from, to, bps: quantilesBps[i] ?? [] }] : [];
  });
}

/** Rounds up to 1, 2 or 5 times a power of ten. @param {number} value */
function niceUnit(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((factor) => factor * power >= value) ?? 10);
}
