import { describe, expect, jest, test } from '@jest/globals';
import { adapted } from './fake-port.fixture.ts';
import { useManualClock } from './manual-clock.fixture.ts';
import { ScriptedAbandoning } from './scripted.fixture.ts';

useManualClock();

/** A segment of the top representation is in flight; the controller prefers the lowest. */
function slowDownload() {
  const controller = new ScriptedAbandoning();
  const core = adapted({ controller });
  const request = {};
  core.downloads.requested(request, { isMedia: true, segment: core.port.segment(0, 2) });
  controller.instead = 0;
  return { ...core, controller, request };
}

describe('a video download in flight', () => {
  test('is abandoned at the next tick, and again only if the player has not answered for a second', () => {
    const { port } = slowDownload();
    jest.advanceTimersByTime(100);
    expect(port.abandoned).toEqual([{ representationId: 'v0', message: 'scripted: slow' }]);
    jest.advanceTimersByTime(900);
    expect(port.abandoned).toHaveLength(1);
    jest.advanceTimersByTime(200);
    expect(port.abandoned).toHaveLength(2);
  });

  test('is kept if it has the chosen representation', () => {
    const { port, controller } = slowDownload();
    controller.instead = 2;
    jest.advanceTimersByTime(1000);
    expect(controller.inFlights.length).toBeGreaterThan(5);
    expect(port.abandoned).toEqual([]);
  });

  test('is reconsidered until it ends, the source ends, or the plugin is detached', () => {
    const ends = [
      ({ downloads, request }: ReturnType<typeof slowDownload>) => downloads.ended(request, 'abandoned', 1),
      ({ sourceEnded }: ReturnType<typeof slowDownload>) => sourceEnded(),
      ({ stop }: ReturnType<typeof slowDownload>) => stop(),
    ];
    for (const end of ends) {
      const core = slowDownload();
      expect(jest.getTimerCount()).toBe(1);
      end(core);
      expect(jest.getTimerCount()).toBe(0);
    }
  });

  test('is reconsidered at progress events if timers are throttled, as in a hidden tab', async () => {
    const setInterval = jest.spyOn(globalThis, 'setInterval').mockReturnValue(7 as never);
    const { port, controller, downloads, request } = slowDownload();
    controller.instead = undefined;
    const progress = async (events: number) => {
      for (let event = 1; event <= events; event++) {
        jest.advanceTimersByTime(50);
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

  test('audio is not reconsidered', () => {
    const { downloads } = adapted({ controller: new ScriptedAbandoning() });
    downloads.requested({}, { isMedia: true });
    expect(jest.getTimerCount()).toBe(0);
  });
});
