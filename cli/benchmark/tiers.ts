/** The tiers of `bench`: the origin paces the link, or the kernel emulates a link. */

import { check, InputError } from '../../abr/errors.ts';
import { type BenchNotes, benchNotesOf } from '../../replay/browser/bench-notes.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { KernelTier } from '../../transport/kernel-link.ts';
import { impairmentNamed } from '../../transport/kernel-steps.ts';
import {
  allowCongestionControl,
  CONGESTION_CONTROLS,
  kernelTierObstacle,
  quicCongestion,
  quicTierObstacle,
} from '../../transport/programs.ts';
import type { Benchmark } from './benchmark.ts';

export type TierFlags = Record<'congestion' | 'impairment', string> & {
  tier: 'origin' | KernelTier['tier'];
} & Partial<Record<'contexts' | 'household', string>>;

/** Parses the flags of an emulated link. Throws if a flag is wrong, or if this machine cannot run the tier. */
export function kernelOption(
  tier: KernelTier['tier'],
  { congestion, impairment: given, contexts, household }: TierFlags,
): KernelTier {
  const impairment = impairmentNamed(given);
  const isQuic = tier === 'quic';
  check((contexts ?? '1') === '1', '--contexts', `1 with --tier ${tier}: there is one link`, contexts);
  const origins = '--tier origin or kernel: the quic tier plays one session at a time';
  check(!isQuic || household === undefined, '--household', origins, household);
  const known = `one of ${CONGESTION_CONTROLS.join(', ')}`;
  if (isQuic) quicCongestion(congestion);
  else check(CONGESTION_CONTROLS.includes(congestion), '--congestion', known, congestion);
  const obstacle = isQuic ? quicTierObstacle() : (kernelTierObstacle() ?? allowCongestionControl(congestion));
  if (obstacle === undefined) return { tier, congestionControl: congestion, impairment };
  throw new InputError('--tier', 'origin on this machine', undefined, `"${tier}": ${obstacle}`);
}

/** One file holds sessions of one tier with one `--late-share`, so `--resume` must continue with the same. */
export function requireSameTier(
  { resumedTool, out }: Pick<Benchmark, 'resumedTool' | 'out'>,
  { tier, kernel, lateShare }: Pick<BenchNotes, 'tier' | 'kernel' | 'lateShare'>,
): void {
  const earlier = resumedTool && benchNotesOf(resumedTool);
  if (earlier === undefined) return;
  const place = placeOf({ file: out, field: 'tool.bench' });
  const shareText = `sessions of --late-share ${lateShare} to resume`;
  check(earlier.lateShare === lateShare, `${place}.lateShare`, shareText, earlier.lateShare);
  const nameOf = (name: string, of?: { congestionControl: string }) =>
    of ? `${name} with ${of.congestionControl}` : name;
  const [was, is] = [nameOf(earlier.tier, earlier.kernel), nameOf(tier, kernel)];
  if (was === is && sameJson(earlier.kernel?.impairment, kernel?.impairment)) return;
  throw new InputError(place, `sessions of tier ${is} to resume`, undefined, `those of ${was}`);
}
