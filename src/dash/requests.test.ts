import { expect, test } from '@jest/globals';
import { bitsOf, Scripted, ScriptedAbandoning, Steady, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { attached } from './fake-player.fixture.ts';

useManualClock();

/** The request of the first segment; `step` comes after each quarter of a second. */
function sent(more: object = {}) {
  const steady = new Steady();
  const options = { controller: new ScriptedAbandoning(), forecasters: [steady] };
  const seen = attached(options);
  const { player, controller } = seen;
  player.ask();
  const request = player.send(0, 0, more);
  const steps = (count: number, step = () => player.chunk(request, new ArrayBuffer(100e3))) => {
    for (let i = 0; i < count; i++) {
      wait(0.25);
      step();
    }
  };
  /** dash.js's event of the end, with the body; returns the downloads of the next state. */
  const ended = (byteLength?: number) => {
    request.endDate = new Date();
    player.emit('fragmentLoadingCompleted', { request, response: byteLength && { byteLength } });
    player.ask();
    return controller.states.at(-1)!.downloads;
  };
  return { ...seen, steady, request, steps, ended };
}

test("bytes are counted without a length, from dash.js's traces", () => {
  const traces: { b: number[] }[] = [];
  const { player, controller, handle, steady, request, steps, ended } = sent({ traces });
  steps(5, () => {
    traces.push({ b: [100e3] });
    player.emit('loadingProgress', { request });
  });
  expect(controller.inFlights.at(-1)!.receivedBits).toBeGreaterThan(3e6);
  const whole = { receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: 1.25, latencySeconds: 0.25 };
  expect(ended(500e3)).toMatchObject([whole]);
  wait(1);
  player.send(1);
  expect(bitsOf(steady)).toBeCloseTo(4e6);
  expect(handle.state.requestedBits).toBe(4e6 + 4e6);
});

test('bytes are counted in low-latency mode, from the parts of the body, without those of a failed attempt', () => {
  const { player, controller, request, steps, ended } = sent();
  steps(2);
  player.attempt(request);
  steps(4);
  wait(0.1);
  expect(controller.inFlights.at(-1)).toMatchObject({ receivedBits: 3.2e6 });
  request.bytesLoaded = request.bytesTotal = 410e3;
  expect(ended()).toMatchObject([{ receivedBits: 3.28e6, downloadSeconds: 1.1 }]);
});

test.each([false, true])(
  'an abandoned request is aborted, and its segment is requested again, with CMCD: %s',
  (enabled) => {
    const controller = new ScriptedAbandoning(2);
    const { player } = attached({ controller });
    player.settings.streaming.cmcd.enabled = enabled;
    player.ask();
    const request = player.send(3, 2);
    controller.instead = 0;
    wait(0.1);
    expect([player.repeatedSeconds, player.aborted]).toEqual([[14], enabled ? [request] : []]);
  },
);

test('a request that dash.js repeats is sent in the next representation, each once: dash.js ends playback after four', () => {
  const { player, handle } = attached({ controller: new Scripted(1) });
  player.ask();
  const choices: number[] = [];
  let sent = player.send(0);
  for (let i = 0; i < 3; i++) {
    player.refuse(sent);
    wait(1);
    player.attempt(sent);
    wait(0.1);
    if (player.qualitySet.length === 0) break;
    choices.push(player.abandon(sent));
    sent = player.send(0);
  }
  expect(choices).toEqual([0, 2]);
  expect(handle.state).toMatchObject({ wastedBits: 0, faults: [] });
});

test('a request that dash.js repeats stays in its representation while the manifest has another server', () => {
  const { player } = attached({ controller: new Scripted(1) });
  player.ask();
  const manifest = { BaseURL: [{ serviceLocation: 'a' }, { serviceLocation: 'b' }] };
  const representation = { ...player.representations[1], adaptation: { period: { mpd: { manifest } } } };
  const repeated = (serviceLocation: string) => {
    const request = player.send(0, 1, { serviceLocation, representation });
    for (let i = 0; i < 2; i++) {
      wait(1);
      player.attempt(request);
      wait(0.1);
    }
    request.failed();
    return player.qualitySet.length;
  };
  expect(repeated('a')).toBe(0);
  expect(repeated('b')).toBeGreaterThan(0);
});

test.each(['audio', 'video'])('a pause of dash.js after a refusal on demand shows nothing: %s', (mediaType) => {
  const steady = new Steady();
  const { player, controller } = attached({ controller: new Scripted(), forecasters: [steady] });
  player.ask();
  const manifest = { BaseURL: [{ serviceLocation: 'a' }, { serviceLocation: 'b' }] };
  const representation = { ...player.representations[0], adaptation: { period: { mpd: { manifest } } } };
  for (const isRefused of [false, true]) {
    const request = player.send(Number(isRefused), 0, isRefused ? { mediaType, representation } : {});
    wait(0.1);
    if (isRefused) {
      player.refuse(request);
      wait(1);
      player.attempt(request);
      wait(0.1);
    }
    request.arrived(1e6);
    wait(0.2);
    request.completed(4e6);
  }
  wait(1);
  player.send(2);
  const rates = steady.observations.flatMap((one) =>
    one.kind === 'throughput' ? [one.bits / (one.endSeconds - one.startSeconds)] : [],
  );
  expect(Math.min(...rates)).toBeGreaterThan(10e6);
  player.ask();
  const times = { downloadSeconds: expect.closeTo(0.3), latencySeconds: expect.closeTo(0.1) };
  expect(controller.states.at(-1)!.downloads.at(-1)).toMatchObject(times);
});

test('a download ends with a period that leaves the manifest', () => {
  const { player, controller, request } = sent();
  player.emit('loadingAborted', { request });
  controller.next = 2;
  // During a download, it would be the present one.
  expect(player.ask()).toBe(2);
});

test('bytes are counted without progress events, from the body', () => {
  const { ended } = sent();
  wait(0.5);
  const [download] = ended(250e3);
  expect(download).toMatchObject({ receivedBits: 2e6, downloadSeconds: 0.5 });
  expect(download).not.toHaveProperty('latencySeconds');
});
