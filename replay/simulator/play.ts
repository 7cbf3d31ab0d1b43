/** Plays sessions in the order of events; the sessions of a household play together on one link. */

import { type Household, segmentsOfPlayer } from '../households.ts';
import { SharedLink } from '../link/shared-link.ts';
import { linkOf } from '../link/trace-link.ts';
import type { SessionResult } from '../results.ts';
import type { SessionTask, SimulatedAlgorithm } from './algorithms.ts';
import { EventQueue } from './event-queue.ts';
import { LivePlayer } from './player/live-player.ts';
import { OnDemandPlayer } from './player/on-demand-player.ts';
import type { SimulationOptions } from './simulation-options.ts';

function newPlayer(options: SimulationOptions, queue: EventQueue): LivePlayer | OnDemandPlayer {
  const { live } = options.scenario;
  const player = live ? new LivePlayer(options, live, queue) : new OnDemandPlayer(options, queue);
  player.start();
  return player;
}

/** A controller that throws or decides invalidly ends the session with `endedBy: fault`. @throws {RangeError} */
export function simulateSession(options: SimulationOptions): SessionResult {
  const queue = new EventQueue();
  const player = newPlayer(options, queue);
  while (!player.isOver) queue.runNext();
  return player.result();
}

/** Returns a result per player; player n has the seed + n. */
export function playHousehold(
  { players, traffic, name }: Household,
  task: Omit<SessionTask, 'access'>,
  { algorithm, algorithmOf }: { algorithm: string; algorithmOf(name: string): SimulatedAlgorithm },
): SessionResult[] {
  const { trace, scenario, startSeconds } = task;
  const shared = new SharedLink();
  const queue = new EventQueue();
  const link = linkOf(trace, scenario).from(startSeconds);
  const downloads = traffic.map((one) => shared.addTraffic(link, one));
  const seated = players.map((player, index) => {
    const options = algorithmOf(player.algorithm ?? algorithm)({
      ...task,
      startSeconds: startSeconds + player.joinSeconds,
      segmentCount: segmentsOfPlayer(player, task),
      seed: (task.seed + index) >>> 0,
      access: shared.access(player.joinSeconds),
    });
    return newPlayer(options, queue);
  });
  while (seated.some((player) => !player.isOver)) {
    const dueSeconds = queue.nextSeconds;
    const changeSeconds = shared.nextChangeSeconds();
    shared.advanceTo(Math.min(changeSeconds, dueSeconds));
    if (dueSeconds < changeSeconds) queue.runNext();
    // Both may move the ends of flights.
    for (const player of seated) player.followLink();
  }
  const { nowSeconds } = shared;
  const linkUtilisation = shared.utilisation(link, nowSeconds);
  const trafficSeconds = sum(traffic.map((one) => Math.max(0, Math.min(nowSeconds, one.toSeconds) - one.fromSeconds)));
  const trafficBps = sum(downloads.map((one) => one.receivedBits(nowSeconds))) / trafficSeconds;
  return seated.map((player, i) => ({
    ...player.result(),
    startSeconds,
    household: {
      ...{ name, algorithm, player: i, joinSeconds: players[i]!.joinSeconds, linkUtilisation },
      ...(trafficSeconds > 0 && { trafficBps }),
    },
  }));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
