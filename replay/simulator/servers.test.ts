/** MPC-L after a change of server: on links of their own, and on one link that limits all servers. */

import { expect, test } from '@jest/globals';
import type { PiecewisePath } from '../../abr/index.ts';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { pageLinkOf } from '../link/trace-link.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import type { Trace } from '../trace.ts';
import { EventQueue } from './event-queue.ts';
import { traceUntil } from './made-up.fixture.ts';
import { Flight } from './player/flight.ts';
import { OnDemandPlayer } from './player/on-demand-player.ts';

/** Requests go to each server in turn for a time. */
const TURN_SECONDS = 60;

class SteeredPlayer extends OnDemandPlayer {
  links!: readonly PiecewisePath[];
  hidesServers = false;

  private get _server(): number {
    return Math.floor(this.nowSeconds / TURN_SECONDS) % this.links.length;
  }

  protected override get url(): string | undefined {
    return this.hidesServers ? undefined : `https://server${this._server}.example/`;
  }

  protected override newFlight(_index: number, sizeBits: number): Flight {
    const link = this.access.shareOf(this.links[this._server]!);
    return new Flight(link, this.nowSeconds, sizeBits, this.scenario.rttSeconds);
  }
}

/** Plays 5 minutes of `hd-16` from servers behind these links. */
function play(traces: readonly Trace[], hidesServers = false) {
  const scenario = { ...resolveScenario(scenarioNamed('hd-16')), traceScale: { factor: 1 } };
  const queue = new EventQueue();
  const parts = {
    controller: createLiveMpcL(),
    forecaster: createBuiltInForecaster(),
    objective: 'perceived' as const,
  };
  const player = new SteeredPlayer({ trace: traces[0]!, scenario, segmentCount: 48, ...parts }, queue);
  player.links = traces.map((trace) => pageLinkOf(trace, scenario));
  player.hidesServers = hidesServers;
  player.start();
  while (!player.isOver) queue.runNext();
  const { segments, stallSeconds, qoe } = player.result();
  /** Representations of the first segments requested after a change of server. */
  const after = (turn: number) =>
    segments
      .filter(({ requestedAtSeconds }) => requestedAtSeconds >= turn * TURN_SECONDS)
      .slice(0, 4)
      .map(({ bitrateBps }) => scenario.ladderBps.indexOf(bitrateBps));
  return { segments, stallSeconds, perceived: qoe.perceived!, after };
}

const flat = (mbps: number) => traceUntil([{ until: 600, mbps }]);

test('back at a fast server, the second segment is of its rate, and none stalls at a slow one', () => {
  const links = [flat(20), flat(1.5)];
  const [own, shared] = [play(links), play(links, true)];
  expect(own.after(2).slice(1)).toEqual([4, 4, 4]);
  expect(shared.after(2).slice(1)).not.toEqual([4, 4, 4]);
  expect(own.stallSeconds).toBe(0);
  expect(own.perceived).toBeGreaterThan(shared.perceived);
});

test('servers behind the same link are one to the plugin', () => {
  const link = traceUntil([20, 25, 16, 12, 18, 3, 5, 4, 9, 20].map((mbps, i) => ({ until: 30 * (i + 1), mbps })));
  const links = [link, link];
  expect(play(links).segments).toEqual(play(links, true).segments);
});
