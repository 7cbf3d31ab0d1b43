/** The entry `leo-abr/trial`: assigns arms, and reports what viewers got, with the plugin and without. */

import { check } from '../abr/errors.ts';
import { has } from '../session/page/checks.ts';
import { observedDash, observedHls, observedShaka } from './page/players.ts';
import { Reporter, type ReportOptions, type SessionReports } from './page/reports.ts';

export { InputError } from '../abr/errors.ts';
export { type Arm, assignArm, type ConfiguredTrial, type TrialOptions } from './page/arms.ts';
export type { ReportOptions, SessionReports } from './page/reports.ts';
export type { SessionReport } from './session-report.ts';
export type { ConfiguredOptions, TrialConfig } from './trial-config.ts';

type Method = (...args: never[]) => unknown;

/** A player of dash.js 5, hls.js 1, or Shaka Player 4 or 5: their own types fit. */
export type ObservablePlayer =
  | { getVersion: Method; getVideoElement: Method; on: Method; off: Method }
  | { loadSource: Method; on: Method; off: Method }
  | { getNetworkingEngine: Method; getMediaElement: Method; addEventListener: Method; removeEventListener: Method };

/**
 * Observes a player's sessions and reports each at its end: its source changed, `stop()`, the plugin was detached, or the
 * page went away. Call it before the player loads. It sets nothing in the player, and never breaks playback. Throws an
 * `InputError` for an invalid option, another player, or an arm that `leoAbr` (the plugin's handle, if any) does not fit.
 */
export function reportSessions(player: ObservablePlayer, options: ReportOptions = {}): SessionReports {
  const isDash = has(player, 'getVersion', 'getVideoElement', 'on', 'off');
  const isHls = has(player, 'loadSource', 'on', 'off');
  const isOne = isDash || isHls || has(player, 'getNetworkingEngine', 'getMediaElement', 'addEventListener');
  check(isOne, 'player', 'a player of dash.js, hls.js or Shaka Player', player);
  const observed = isDash ? observedDash : isHls ? observedHls : observedShaka;
  return new Reporter(observed(player as never), options);
}
