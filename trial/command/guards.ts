/** Guards of a trial: limits of an arm's costs, and a check whether a limit is broken for certain. */

import { InputError } from '../../abr/errors.ts';
import { fixed, signed } from '../../cli/report/format.ts';
import { ratioOf } from '../../replay/evaluation/statistics/cluster-ratios.ts';
import { armsOf, comparisonOf, nounOf, scaledArm } from './compare-arms.ts';
import type { ArmSums, TrialSums } from './read-sums.ts';
import { METRICS, type TrialMetric } from './sums-sql.ts';

/** `limit` bounds the difference from the control, relative to the control's figure or in the figure's unit. */
type Guard = ReturnType<typeof parseGuards>[number];

const GUARD = /^(.+?)\s*(<=|>=)\s*([+-]?\d+(?:\.\d+)?)\s*(\S.*)?$/;

/** Parses `stalled share <= +5 %, startup <= +0.1 s`. Throws an `InputError` for another text. */
export function parseGuards(text: string) {
  return text.split(',').map((part) => {
    const [, name = '', sign, number, unit = ''] = GUARD.exec(part.trim()) ?? [];
    if (!sign) throw new InputError('--guard', 'guards like "startup <= +0.1 s, watch time >= -1 %"', part.trim());
    const metric = METRICS.find((one) => nounOf(one).toLowerCase() === name.toLowerCase());
    if (!metric) throw new InputError('--guard', `one of ${METRICS.map(nounOf).join(', ')}`, name);
    const isRelative = unit === '%';
    const own = unitOf(metric);
    if (!isRelative && unit !== own) throw new InputError('--guard', `% or ${own} after the number of ${name}`, unit);
    const limit = Number(number) / (isRelative ? 100 : 1);
    return { text: part.trim(), metric, isUpper: sign === '<=', limit, isRelative };
  });
}

/** The unit of a limit. A share in percent has points, because % is relative to the control's figure. */
function unitOf({ title }: TrialMetric): string {
  const unit = title.split(', ')[1]?.split(' per ')[0] ?? '';
  return unit === '0 to 100' || unit.startsWith('%') ? 'points' : unit;
}

/** Says whether a guard is broken for certain. The intervals hold at any look, for all guards and arms together. */
export function checkGuards(sums: TrialSums, guards: readonly Guard[], control?: string) {
  const { control: base, others } = armsOf(sums, control);
  if (!base || others.length === 0) {
    return { isBroken: false, sentence: `No guard of the trial ${sums.trial} can be checked yet: too few sessions.` };
  }
  const always = 0.05 / (guards.length * others.length);
  const all = others.flatMap((arm) => guards.map((guard) => checked(guard, { arm, base, always })));
  const broken = all.filter(({ isBroken }) => isBroken);
  const shown = (broken.length > 0 ? broken : all).map((one) => one.sentence).join('; ');
  const outcome = broken.length > 0 ? 'A guard is broken for certain' : 'No guard is broken for certain';
  return { isBroken: broken.length > 0, sentence: `${outcome} (trial ${sums.trial}): ${shown}.` };
}

function checked(guard: Guard, { arm, base, always }: { arm: ArmSums; base: ArmSums; always: number }) {
  const { metric, isUpper, limit, isRelative, text } = guard;
  // A relative limit compares with the control's figure times a factor, so that the figure's error counts, too.
  const factor = isRelative ? 1 + limit * Math.sign(ratioOf(base.metrics[metric.id]!)) : 1;
  const beyond = comparisonOf(metric, arm, scaledArm(base, metric, factor), { always }).always.ci95;
  const [low, high] = beyond?.map((end) => end - (isRelative ? 0 : limit)) ?? [];
  const isBroken = isUpper ? low! > 0 : high! < 0;
  const { difference, control } = comparisonOf(metric, arm, base, {});
  const { value } = difference;
  const percent = `${signed((100 * value) / control, 1)} %`;
  const shown = isRelative && control > 0 ? percent : `${signed(value, metric.digits)} ${unitOf(metric)}`;
  const isKnown = Number.isFinite(value) && beyond !== null;
  const figure = Number.isFinite(value) ? `${shown} of ${fixed(control, metric.digits)}` : 'without sessions';
  const doubt = isKnown ? '' : ', too few viewers yet';
  return { isBroken, sentence: `${nounOf(metric)} of ${arm.arm} is ${figure} (guard: ${text}${doubt})` };
}
