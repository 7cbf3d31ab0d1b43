import { afterEach, describe, expect, test } from '@jest/globals';
import { type RunningService, type ServiceOptions, startService } from '../start-service.ts';
import { syntheticDish } from './simulated-dish.ts';
import { SimulatedViewer } from './simulated-viewer.ts';

const START_MS = Date.UTC(2026, 0, 1, 12);

/** Takes its observations twice a second for `seconds`. */
function observed(viewer: SimulatedViewer, seconds: number, fromMs = START_MS) {
  return Array.from({ length: 2 * seconds + 1 }, (_, i) => viewer.take(fromMs + i * 500)).flat();
}

const bitsOf = (observations: ReturnType<typeof observed>) =>
  observations.reduce((sum, one) => sum + (one.kind === 'throughput' ? one.bits : 0), 0);

describe('the simulated viewer', () => {
  test('downloads at the capacity of the link, fills its buffer and then waits between segments', () => {
    const rates = (atMs: number) => (atMs < START_MS + 3000 ? 40e6 : 100e6);
    const viewer = new SimulatedViewer(rates);
    const observations = observed(viewer, 60);
    expect(observations[0]).toEqual({ kind: 'throughput', startMs: START_MS, endMs: START_MS + 100, bits: 4e6 });
    observations.forEach((one, i) => {
      expect(one.startMs).toBeCloseTo(observations[i - 1]?.endMs ?? START_MS, 3);
      if (one.kind !== 'throughput') return;
      expect(one.bits / ((one.endMs - one.startMs) / 1000)).toBeCloseTo(rates(one.startMs), -1);
    });
    // Of a video of 16 Mbit/s: as much as was played, and a buffer of 26 to 30 s.
    expect(bitsOf(observations) / 16e6 - 60).toBeGreaterThan(25);
    expect(bitsOf(observations) / 16e6 - 60).toBeLessThanOrEqual(30);
    const idle = observations.filter(({ kind, startMs }) => kind === 'idle' && startMs >= START_MS + 30_000);
    expect(idle.length).toBeGreaterThan(200);
  });

  test('receives nothing in an outage, goes on after it, and skips the time that the machine slept', () => {
    const viewer = new SimulatedViewer((atMs) => (atMs < START_MS + 2000 ? 0 : 50e6));
    expect(observed(viewer, 2)).toHaveLength(20);
    expect(viewer.isDownloading).toBe(true);
    // Less the rest of the step in which a segment ended.
    const bits = bitsOf(observed(viewer, 2, START_MS + 2000));
    expect(bits).toBeGreaterThan(95e6);
    expect(bits).toBeLessThanOrEqual(100e6);
    const awakeMs = START_MS + 3_600_000;
    expect(observed(viewer, 1, awakeMs)[0]!.startMs).toBe(awakeMs);
  });

  test('neither downloads nor observes while it is paused', () => {
    const viewer = new SimulatedViewer(() => 50e6);
    observed(viewer, 1);
    viewer.isPaused = true;
    expect(observed(viewer, 5, START_MS + 1000)).toEqual([]);
    viewer.isPaused = false;
    expect(observed(viewer, 1, START_MS + 6000)[0]!.startMs).toBe(START_MS + 6000);
  });

  test('is all of the usage of its dish but for a trickle, also in the history, and stops where it is obstructed', () => {
    const dish = syntheticDish({ seed: 3, viewer: true });
    expect(syntheticDish({ seed: 3 }).viewer).toBeUndefined();
    let obstructed = 0;
    dish.viewer!.take(START_MS);
    for (let second = 1; second <= 1800; second++) {
      const atMs = START_MS + second * 1000;
      const bits = bitsOf([...dish.viewer!.take(atMs)]);
      const { downlinkUsageBps, obstructed: isObstructed } = dish.at(atMs);
      if (isObstructed) obstructed++;
      else expect(downlinkUsageBps - bits).toBeLessThan(1e6);
      expect(isObstructed ? bits : 0).toBe(0);
    }
    expect(obstructed).toBeGreaterThan(0);
    expect(dish.at(START_MS + 1_000_000).downlinkUsageBps).toBe(dish.at(START_MS + 1_000_000).downlinkUsageBps);
    expect(dish.at(START_MS - 1000).downlinkUsageBps).toBeLessThan(1e6);
  });
});

describe('a service with a simulated viewer', () => {
  const opened: RunningService[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  async function start(options: Partial<ServiceOptions> = {}) {
    const dish = syntheticDish({ seed: 1, viewer: true });
    opened.push(await startService({ version: '0', port: 0, dish, ...options }));
    return opened.at(-1)!;
  }
  /** Until the viewer's reports have become a forecast. */
  const forecast = ({ service }: RunningService) =>
    new Promise<void>((resolve) => {
      service.listen({ event: (type) => type === 'forecast' && resolve() });
    });

  test('forecasts the link from its reports', async () => {
    const running = await start();
    await forecast(running);
    const { service } = running;
    const { levels, quantilesBps } = service.forecast().forecast!;
    expect(quantilesBps[0]![levels.indexOf(0.5)]).toBeGreaterThan(80e6);
    expect(quantilesBps[0]![levels.indexOf(0.5)]).toBeLessThan(120e6);
    expect(service.state().link.eachPlayer).toMatchObject([{ share: 1, isSimulated: true }]);
    expect(service.state().problems).toEqual([]);
  });

  test('leaves the link to a player as long as it reports', async () => {
    const running = await start();
    const { service } = running;
    await forecast(running);
    const own = () => service.state().link.eachPlayer.filter(({ isSimulated }) => isSimulated);
    const play = setInterval(() => {
      const endMs = Date.now();
      service.observe({ player: 'tv', observations: [{ kind: 'idle', startMs: endMs - 100, endMs }] });
    }, 200);
    await untilTrue(() => service.players === 1 && own().length === 0);
    clearInterval(play);
    await untilTrue(() => service.players === 1 && own().length === 1);
  }, 60_000);
});

/** Polls, without a limit but the test's. */
async function untilTrue(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}
