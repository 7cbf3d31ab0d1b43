/** Makes the dish of `serve --dish simulated`. */

import { InputError } from '../../abr/errors.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { type Trace, traceStartUtcMs, wrapSeconds } from '../../replay/trace.ts';
import type { DishScript, SimulatedCapacity } from '../../service/index.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { wholeNumber } from '../shared/options.ts';

export type ScriptFlags = Record<'trace' | 'seed', string>;

export async function dishScript({ trace, seed }: ScriptFlags, io: CommandIo): Promise<DishScript> {
  const { syntheticDish } = await import('../../service/index.ts');
  return syntheticDish({
    seed: wholeNumber(seed, '--seed', { max: 999_999_999 }),
    capacity: capacityOf(traceOption(trace, io)),
  });
}

function traceOption(text: string, io: CommandIo): Trace {
  if (/^[a-z-]+$/.test(text)) {
    const traces = synthesizeShippedTraces();
    const trace = traces.find(({ name }) => name === text);
    if (trace !== undefined) return trace;
    const expected = `a trace file, or one of ${traces.map(({ name }) => name).join(', ')}`;
    throw new InputError('--trace', expected, text);
  }
  const [trace, another] = readTraces([text], { onNote: (note) => io.stderr.write(`${note}\n`) });
  if (trace !== undefined && another === undefined) return trace;
  throw new InputError('--trace', 'a file with one trace without gaps', text);
}

/** The second argument has the steps of the link that replays the trace. Default: the trace's steps. */
export function capacityOf(
  trace: Trace,
  { stepEndsSeconds, ratesBps }: Pick<SimulatedCapacity, 'stepEndsSeconds' | 'ratesBps'> = trace,
): SimulatedCapacity {
  const times = { startUtcMs: traceStartUtcMs(trace.metadata), wrapSeconds: wrapSeconds(trace) };
  return { ...times, stepEndsSeconds, ratesBps, rttSeconds: trace.rttSeconds };
}
