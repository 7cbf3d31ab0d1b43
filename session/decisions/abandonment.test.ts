import { expect, jest, test } from '@jest/globals';
import { adapted } from '../fake-port.fixture.ts';
import { ScriptedAbandoning, Steady, useManualClock, wait } from '../scripted.fixture.ts';

useManualClock();

/** A segment of the top representation is in flight; the controller prefers `instead`. */
function slowDownload(instead: number | undefined = 0) {
  const controller = Object.assign(new ScriptedAbandoning(), { instead: instead as number | undefined });
  const forecaster = new Steady();
  const core = adapted({ controller, forecasters: [forecaster] });
  const request = {};
  core.downloads.requested(request, { isMedia: true, segment: core.port.segment(0, 2) });
  return { ...core, request, forecaster };
}

test('a video download in flight is abandoned at the next tick, and again only if the player has not answered for a second', () => {
  const { port, downloads, request, forecaster } = slowDownload();
  downloads.received(request, { addedBits: 8000 });
  wait(0.1);
  expect(port.abandoned).toEqual([{ representationId: 'v0', message: 'scripted: slow' }]);
  wait(0.9);
  expect(port.abandoned).toHaveLength(1);
  // The page's forecasters hear of an outage meanwhile.
  expect(forecaster.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 0.8 });
  wait(0.2);
  expect(port.abandoned).toHaveLength(2);
});

test.each<[string, (core: ReturnType<typeof slowDownload>) => void]>([
  ['it ends', ({ downloads, request }) => downloads.ended(request, 'abandoned', 1)],
  ['the source ends', ({ sourceEnded }) => sourceEnded()],
  ['the plugin is detached', ({ stop }) => stop()],
])('a video download in flight is reconsidered until %s', (_, end) => {
  const core = slowDownload();
  expect(jest.getTimerCount()).toBe(1);
  end(core);
  expect(jest.getTimerCount()).toBe(0);
});

test('a video download in flight is reconsidered at progress events if timers are throttled, as in a hidden tab', async () => {
  const setInterval = jest.spyOn(globalThis, 'setInterval').mockReturnValue(7 as never);
  const { port, controller, downloads, request } = slowDownload();
  controller.instead = undefined;
  const progress = async (events: number) => {
    for (let event = 1; event <= events; event++) {
      wait(0.05);
      downloads.received(request, { addedBits: 8000 });
      await Promise.resolve();
    }
  };
  await progress(20);
  expect(controller.inFlights.map(({ receivedBits }) => receivedBits)).toEqual([32e3, 64e3, 96e3, 128e3, 160e3]);
  controller.instead = 0;
  await progress(3);
  expect(port.abandoned).toEqual([]);
  await progress(1);
  expect(port.abandoned).toMatchObject([{ representationId: 'v0' }]);
  setInterval.mockRestore();
});
