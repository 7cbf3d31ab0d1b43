import { expect, jest, test } from '@jest/globals';
import { adapted } from '../fake-port.fixture.ts';
import { ScriptedAbandoning, Steady, useManualClock, wait } from '../scripted.fixture.ts';

useManualClock();

/** A segment of the top representation is in flight; the controller prefers the lowest one. */
function slowDownload() {
  const controller = new ScriptedAbandoning();
  controller.instead = 0;
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

test.each(['download', 'source', 'plugin'])('a video download in flight is reconsidered until the %s ends', (what) => {
  const { downloads, request, sourceEnded, stop } = slowDownload();
  expect(jest.getTimerCount()).toBe(1);
  if (what === 'download') downloads.ended(request, 'abandoned', 1);
  else if (what === 'source') sourceEnded();
  else stop();
  expect(jest.getTimerCount()).toBe(0);
});
