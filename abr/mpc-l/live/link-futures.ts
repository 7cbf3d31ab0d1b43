/** Futures of the link in cells of 0.1 s: the futures of the forecast's steps, with fluctuation and dips at handovers. */

import type { PlayerState } from '../../controller.ts';
import { ageSecondsOf, type QuantileForecast } from '../../forecast.ts';
import { levelShare, nearestLevel, normalQuantile, quantileAt } from '../../statistics/distributions.ts';
import { minimalStandard } from '../../statistics/random.ts';
import { Futures, MAX_STEPS } from '../futures.ts';
import { CELL_SECONDS, CELLS, CELLS_PER_SECOND, DRAWN_SECONDS, LEAST_CELL_BPS, LinkPaths } from './link-paths.ts';

/** Fluctuations per future of the forecast. */
export const COPIES = 2;
/** A dip may last this long. */
const LONGEST_DIP_SECONDS = 3;
/** Drawn handovers, and random numbers per handover: whether it comes, its time, the dip's duration, a collapse. */
const HANDOVERS = 2;
const DRAWS = 4;
/** The table of ratios covers normal scores up to +-3. */
const RATIOS_PER_SCORE = 16;
const RATIO_MIDDLE = 3 * RATIOS_PER_SCORE;
/** Share of a step's variance that the fluctuation may explain. */
const MOST_EXPLAINED = 0.9;
const NO_FLUCTUATION = { levels: [0.5], ratios: [1], correlation: 0 };
/** Fluctuations are recomputed if their correlation changes by half of this. */
const CORRELATION_STEP = 0.05;

export class LinkFutures {
  readonly paths: LinkPaths;
  private readonly _futures: Futures;
  /**
   * `[future][cell]`: normal innovations of the first copies, and the indices in `_ratios` that follow from
   * `_correlation`. The second copies mirror the first copies, so that few futures stand for the distribution.
   */
  private readonly _innovations: Float64Array;
  private readonly _places: Uint8Array;
  private _correlation = Number.NaN;
  /** The last forecast's fluctuation by score, and its capacity `[future][step]` in bit/s. */
  private readonly _ratios = new Float64Array(2 * RATIO_MIDDLE + 1);
  private readonly _rates: Float64Array;
  private _forecast: QuantileForecast | undefined;
  private _drawnSteps = 0;
  private _variance = 0;
  /** `[future][handover][draw]`: normal scores. */
  private readonly _draws: Float64Array;

  /** @param steps number of futures of the forecast's steps */
  constructor(steps: number, seed: number) {
    this._futures = new Futures(steps, seed);
    const count = steps * COPIES;
    this.paths = new LinkPaths(count);
    const random = minimalStandard(seed);
    const normal = () => normalQuantile(Math.max(1e-9, random()));
    this._innovations = Float64Array.from({ length: steps * CELLS }, normal);
    this._places = new Uint8Array(count * CELLS);
    this._rates = new Float64Array(steps * MAX_STEPS);
    this._draws = Float64Array.from({ length: count * HANDOVERS * DRAWS }, normal);
  }

  /** Draws the futures of a forecast into `paths`; with 1 copy only the first copies. */
  draw(state: PlayerState, forecast: QuantileForecast, copies = COPIES): LinkPaths {
    const steps = this._futures.count;
    this.paths.count = steps * copies;
    const ageSeconds = Math.max(0, ageSecondsOf(forecast, state.nowSeconds));
    if (forecast !== this._forecast) this._prepare(forecast);
    const { bits, count } = this.paths;
    const ratios = this._ratios;
    const places = this._places;
    const ends = forecast.stepEndsSeconds;
    const last = Math.min(MAX_STEPS, ends.length) - 1;
    // First `bits` has the capacity of each cell in bit/s, at the index of its end.
    for (let k = 0, from = 0; from < CELLS; k++) {
      const end = k === last ? CELLS : Math.min(CELLS, Math.round((ends[k]! - ageSeconds) * CELLS_PER_SECOND));
      if (k === this._drawnSteps) this._drawStep(forecast);
      for (let f = 0; f < count; f++) {
        const rate = this._rates[(f % steps) * MAX_STEPS + k]!;
        const row = f * CELLS;
        for (let i = row + from; i < row + end; i++) bits[i + f + 1] = rate * ratios[places[i]!]!;
      }
      from = Math.max(from, end);
    }
    this._dip(forecast, state);
    for (let row = 0; row < count * (CELLS + 1); row += CELLS + 1) {
      let sum = 0;
      for (let cell = row + 1; cell <= row + CELLS; cell++) {
        sum += Math.max(LEAST_CELL_BPS, bits[cell]!) * CELL_SECONDS;
        bits[cell] = sum;
      }
    }
    return this.paths;
  }

  /** Computes what does not depend on the forecast's age. */
  private _prepare(forecast: QuantileForecast): void {
    const { fluctuation } = forecast;
    this._forecast = forecast;
    this._futures.draw(forecast, 0);
    this._drawnSteps = 0;
    const ratios = this._ratios;
    const { levels, ratios: values, correlation: found } = fluctuation ?? NO_FLUCTUATION;
    this._variance = values.reduce((sum, ratio, i) => sum + (ratio - 1) ** 2 * levelShare(levels, i), 0);
    const scores = levels.map(normalQuantile);
    for (let i = 0; i < ratios.length; i++) {
      ratios[i] = quantileAt((i - RATIO_MIDDLE) / RATIOS_PER_SCORE, scores, values);
    }
    const correlation = Math.round(found / CORRELATION_STEP) * CORRELATION_STEP;
    const spread = Math.sqrt(1 - correlation ** 2);
    let score = 0;
    for (let i = 0; correlation !== this._correlation && i < this._innovations.length; i++) {
      const fresh = this._innovations[i]!;
      score = i % CELLS === 0 ? fresh : correlation * score + spread * fresh;
      const away = Math.round(Math.max(-RATIO_MIDDLE, Math.min(RATIO_MIDDLE, score * RATIOS_PER_SCORE)));
      this._places[i] = RATIO_MIDDLE + away;
      this._places[i + this._innovations.length] = RATIO_MIDDLE - away;
    }
    this._correlation = correlation;
  }

  /**
   * Computes the capacities of the next step without the part of their spread that the fluctuation explains: the mean
   * of n cells with variance v and correlation r varies by about v (1 + r) / (1 - r) / n.
   */
  private _drawStep({ stepEndsSeconds, levels, quantilesBps, fluctuation }: QuantileForecast): void {
    const k = this._drawnSteps++;
    const { correlation } = fluctuation ?? NO_FLUCTUATION;
    const [low, middle, high] = [0.1, 0.5, 0.9].map((level) => nearestLevel(levels, level)) as [number, number, number];
    const width = normalQuantile(levels[high]!) - normalQuantile(levels[low]!);
    const row = quantilesBps[k]!;
    const cells = Math.max(1, (stepEndsSeconds[k]! - (stepEndsSeconds[k - 1] || 0)) * CELLS_PER_SECOND);
    const explained = (this._variance * Math.min(cells, (1 + correlation) / (1 - correlation))) / cells;
    const spread = width > 0 ? Math.log(Math.max(1, row[high]!) / Math.max(1, row[low]!)) / width : 0;
    const share = spread > 0 ? Math.min(MOST_EXPLAINED, explained / spread ** 2) : 0;
    const middleBps = Math.max(1, row[middle]!);
    const power = Math.sqrt(1 - share);
    for (let f = 0; f < this._futures.count; f++) {
      this._rates[f * MAX_STEPS + k] = middleBps * (this._futures.stepBps(f, k) / middleBps) ** power;
    }
  }

  /** Lowers the capacity of the cells at handovers. */
  private _dip({ handovers }: QuantileForecast, { utcMs = Number.NaN }: PlayerState): void {
    let h = 0;
    for (const { atMs, confidence, dip } of handovers) {
      const atSeconds = (atMs - utcMs) / 1000;
      if (dip === undefined || !(atSeconds > -LONGEST_DIP_SECONDS && atSeconds < DRAWN_SECONDS)) continue;
      if (h === HANDOVERS) break;
      const scores = dip.levels.map(normalQuantile);
      const { collapse } = dip;
      const comesBelow = normalQuantile(confidence);
      const collapsesBelow = normalQuantile(collapse.probability);
      for (let f = 0; f < this.paths.count; f++) {
        const at = (f * HANDOVERS + h) * DRAWS;
        const draws = this._draws;
        if (draws[at]! >= comesBelow) continue;
        const from = atSeconds + dip.timingSeconds * draws[at + 1]!;
        const to = from + quantileAt(draws[at + 2]!, scores, dip.seconds);
        this._lower(f, from, to, dip.depth);
        if (draws[at + 3]! < collapsesBelow) this._lower(f, to, to + collapse.seconds, collapse.depth);
      }
      h++;
    }
  }

  private _lower(future: number, fromSeconds: number, toSeconds: number, depth: number): void {
    const last = Math.min(CELLS - 1, Math.floor(toSeconds / CELL_SECONDS));
    for (let cell = Math.max(0, Math.floor(fromSeconds / CELL_SECONDS)); cell <= last; cell++) {
      const start = cell * CELL_SECONDS;
      const seconds = Math.min(toSeconds, start + CELL_SECONDS) - Math.max(fromSeconds, start);
      this.paths.bits[future * (CELLS + 1) + cell + 1]! *= 1 - (depth * seconds) / CELL_SECONDS;
    }
  }
}
