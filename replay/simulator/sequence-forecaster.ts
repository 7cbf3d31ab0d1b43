/** Forecasts by sequence models (predictor/training/sequence.py), one per fold; several are averaged. Node only. */

import { readFileSync } from 'node:fs';
import type { Forecast, Forecaster, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { ModelSession } from '../../predictor/forecast/model-session.ts';
import { FEATURE_COUNT } from '../../predictor/link/link-history.ts';
import { remembered } from '../remembered.ts';

const FOLDER = process.env['SEQUENCE_MODELS'] ?? '/tmp/seq/models';
const LIFETIME_SECONDS = 0.2;
const STEP_ENDS_SECONDS = [1, 2, 4, 6, 8, 12, 18, 28, 48];
const LEVELS = [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97];
const DILATIONS = [1, 2, 4, 8, 16, 32];
const LEAK = 0.1;

interface Weights {
  kind: string;
  arrays: Record<string, Float64Array>;
}
type Nested = number | Nested[];
interface Setup {
  foldOf: Record<string, number>;
  members: Record<string, string[]>;
  rankCorrelation: Record<string, number[]>;
}
let setup: Setup | undefined;
const loaded = new Map<string, Weights>();

export function weightsOf(file: string): Weights {
  return remembered(loaded, file, () => {
    const { kind, ...arrays } = JSON.parse(readFileSync(file, 'utf8')) as { kind: string } & Record<string, Nested[]>;
    const flat = Object.entries(arrays).map(([name, value]) => [name, Float64Array.from(value.flat(3) as number[])]);
    return { kind, arrays: Object.fromEntries(flat) };
  });
}

/** y += W x, with W [out][in] in rows. */
function multiply(w: Float64Array, x: Float64Array, into: Float64Array, count = x.length): void {
  for (let o = 0, at = 0; o < into.length; o++) {
    let sum = into[o]!;
    for (let i = 0; i < count; i++) sum += w[at++]! * x[i]!;
    into[o] = sum;
  }
}
const leaky = (x: number) => (x < 0 ? LEAK * x : x);
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const softplus = (x: number) => (x > 30 ? x : Math.log1p(Math.exp(x)));

export class Member {
  readonly w: Weights;
  state: Float64Array;
  #rings: Float64Array[][] = [];
  #count = 0;

  constructor(w: Weights) {
    this.w = w;
    const width =
      w.kind === 'gru'
        ? w.arrays['gru.weight_hh_l0']!.length / 3
        : w.kind === 'tcn'
          ? w.arrays['first.bias']!.length
          : 0;
    this.state = new Float64Array(w.kind === 'gru' ? Math.sqrt(width) : width);
    if (w.kind === 'tcn')
      this.#rings = DILATIONS.map((d) => Array.from({ length: 2 * d + 1 }, () => new Float64Array(width)));
  }

  step(x: Float64Array): void {
    if (this.w.kind === 'gru') this.#gru(x);
    if (this.w.kind === 'tcn') this.#tcn(x);
  }

  #gru(x: Float64Array): void {
    const n = this.state.length;
    const a = this.w.arrays['gru.bias_ih_l0']!.slice();
    const b = this.w.arrays['gru.bias_hh_l0']!.slice();
    multiply(this.w.arrays['gru.weight_ih_l0']!, x, a);
    multiply(this.w.arrays['gru.weight_hh_l0']!, this.state, b);
    for (let i = 0; i < n; i++) {
      const r = sigmoid(a[i]! + b[i]!);
      const z = sigmoid(a[n + i]! + b[n + i]!);
      const c = Math.tanh(a[2 * n + i]! + r * b[2 * n + i]!);
      this.state[i] = (1 - z) * c + z * this.state[i]!;
    }
  }

  #tcn(x: Float64Array): void {
    const n = this.state.length;
    let values: Float64Array = this.w.arrays['first.bias']!.slice();
    multiply(this.w.arrays['first.weight']!, x, values);
    for (const [layer, d] of DILATIONS.entries()) {
      const ring = this.#rings[layer]!;
      const size = ring.length;
      ring[this.#count % size]!.set(values);
      const kernel: Float64Array = this.w.arrays[`convolutions.${layer}.weight`]!;
      const sums: Float64Array = this.w.arrays[`convolutions.${layer}.bias`]!.slice();
      for (let tap = 0; tap < 3; tap++) {
        const at = this.#count - (2 - tap) * d;
        if (at < 0) continue;
        const past = ring[at % size]!;
        for (let o = 0; o < n; o++) {
          let sum = 0;
          for (let i = 0; i < n; i++) sum += kernel[(o * n + i) * 3 + tap]! * past[i]!;
          sums[o]! += sum;
        }
      }
      values = Float64Array.from(values, (value, i) => value + leaky(sums[i]!));
    }
    this.#count++;
    this.state = values;
  }

  /** Adds `share` of the quantiles to `into`. */
  add(features: Float64Array, share: number, into: Float64Array): void {
    const size = this.w.arrays['size']!;
    let values = Float64Array.from([...this.state, ...features.map((v, i) => v / size[i]!)]);
    for (let layer = 0; this.w.arrays[`head.${layer}.bias`]; layer++) {
      if (layer > 0) values = values.map(leaky);
      const out: Float64Array = this.w.arrays[`head.${layer}.bias`]!.slice();
      multiply(this.w.arrays[`head.${layer}.weight`]!, values, out);
      values = out as Float64Array<ArrayBuffer>;
    }
    for (let at = 3; at < values.length; at += 7) {
      let [up, down] = [values[at]!, values[at]!];
      into[at]! += share * up;
      for (let i = 1; i <= 3; i++) {
        up += softplus(values[at + i]!);
        down -= softplus(values[at - i]!);
        into[at + i]! += share * up;
        into[at - i]! += share * down;
      }
    }
  }
}

class SequenceForecaster extends ModelSession implements Forecaster {
  readonly name: string;
  readonly #weights: readonly Weights[];
  #members: Member[] = [];
  readonly #features = new Float64Array(FEATURE_COUNT);
  #seen = 0;
  #newest: QuantileForecast | undefined;

  constructor(name: string, weights: readonly Weights[], rankCorrelation: number) {
    super();
    this.name = name;
    this.#weights = weights;
    this.useModel({ stepEndsSeconds: STEP_ENDS_SECONDS, levels: LEVELS, rankCorrelation });
  }

  override start(context: SessionContext): void {
    super.start(context);
    this.#members = this.#weights.map((w) => new Member(w));
    this.#seen = 0;
    this.#newest = undefined;
  }

  latest(nowSeconds: number): Forecast | undefined {
    const age = nowSeconds - (this.#newest?.issuedAtMs ?? Number.NaN) / 1000;
    if (age >= 0 && age < LIFETIME_SECONDS) return this.#newest;
    const moment = this.moment(nowSeconds, this.#features);
    if (moment === undefined) return undefined;
    for (; this.#seen < this.bins.length; this.#seen++) {
      const [end, level, drift, gap] = this.bins[this.#seen]!;
      const angle = (2 * Math.PI * (end - 0.25 - this.knownHandoverSeconds)) / 15;
      const known = Number.isFinite(angle);
      const x = Float64Array.of(
        level,
        drift,
        gap,
        known ? Math.sin(angle) : 0,
        known ? Math.cos(angle) : 0,
        known ? 1 : 0,
      );
      for (const member of this.#members) member.step(x);
    }
    const values = new Float64Array(STEP_ENDS_SECONDS.length * LEVELS.length);
    for (const member of this.#members) member.add(this.#features, 1 / this.#members.length, values);
    this.#newest = this.forecast(moment, this.name, values);
    return this.#newest;
  }
}

export function createSequenceForecaster(name: string, group: string): Forecaster {
  setup ??= JSON.parse(readFileSync(`${FOLDER}/setup.json`, 'utf8')) as Setup;
  const fold = setup.foldOf[group]!;
  const weights = setup.members[name]!.map((member) => weightsOf(`${FOLDER}/${member}-${fold}.json`));
  return new SequenceForecaster(name, weights, setup.rankCorrelation[name]![fold]!);
}
