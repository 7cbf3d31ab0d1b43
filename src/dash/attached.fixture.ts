/** The plugin attached to a stand-in for dash.js. */

import type { DecisionEvent, FaultEvent } from '../core/events.ts';
import { wait } from '../core/manual-clock.fixture.ts';
import { attachLeoAbr, type LeoAbrOptions } from '../index.ts';
import { asPlayer, FakePlayer } from './fake-player.fixture.ts';

/** The plugin attached to a player, and its events. `attach`: of an entry, by default the main one. */
export function attached<C extends LeoAbrOptions['controller']>(
  options: LeoAbrOptions & { controller?: C } = {},
  player = new FakePlayer(),
  attach = attachLeoAbr,
) {
  const handle = attach(asPlayer(player), { logger: null, ...options });
  const decisions: DecisionEvent[] = [];
  const faults: FaultEvent[] = [];
  handle.on('decision', (event) => decisions.push(event));
  handle.on('fault', (event) => faults.push(event));
  player.instantiateRules();
  return { controller: options.controller as C, player, handle, decisions, faults };
}

/** Downloads a segment of `bits` in `seconds` from its request, with progress every 50 ms. */
export function download(player: FakePlayer, index: number, representation: number, bits: number, seconds: number) {
  const startDate = new Date();
  const request = player.request(index, representation, { bytesTotal: bits / 8 });
  const events = Math.round(seconds / 0.05);
  for (let event = 1; event < events; event++) {
    wait(0.05);
    request.bytesLoaded = Math.max(1000, (bits / 8) * ((event - 1) / (events - 1)));
    player.trigger('loadingProgress', { request });
  }
  wait(seconds - (events - 1) * 0.05);
  Object.assign(request, { bytesLoaded: bits / 8, startDate, endDate: new Date() });
  player.trigger('fragmentLoadingCompleted', { request });
  return request;
}
