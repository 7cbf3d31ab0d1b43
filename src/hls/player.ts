/** The part of hls.js that the plugin needs. hls.js constructs the controller with the player; it is never imported. */

import type Hls from 'hls.js';
import type { AbrController, HlsListeners } from 'hls.js';
import { playerNamed, wrongPlayer } from '../which-player.ts';

export type HlsHandlers = { [E in keyof HlsListeners]?: (data: Parameters<HlsListeners[E]>[1]) => void };

/** Members of hls.js 1.6 that earlier versions or other players lack, and some that all have. */
const MEMBERS =
  'on off trigger levels latestLevelDetails loadLevelObj mainForwardBufferInfo maxBufferLength userConfig';

/** Why this player is not supported; undefined if it is. Reads no value: hls.js is still being constructed. */
export function whyUnsupported(hls: Hls): string | undefined {
  for (const name of MEMBERS.split(' ')) {
    if (!(name in hls)) return `hls.js ${classOf(hls).version} is not 1.6 or later of version 1: it has no ${name}`;
  }
  return undefined;
}

/** The player's class, for what hls.js keeps there: constants, and its own ABR controller. */
export function classOf(hls: Hls): typeof Hls {
  return hls.constructor as typeof Hls;
}

/** hls.js's own ABR controller; it decides where the plugin does not. */
export function abrControllerOf(hls: Hls): typeof AbrController {
  const controller = (hls && classOf(hls))?.DefaultConfig?.abrController;
  if (!controller) throw wrongPlayer('hls.js', 'hls', 'a player of hls.js', hls);
  return controller;
}

/** The other entries get the player, this one none. */
export function checkNoPlayer(options: unknown): void {
  if (playerNamed(options)) throw wrongPlayer('hls.js', 'options', 'options: hls.js itself passes its player', options);
}
