import { describe, expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning, Steady } from '../core/scripted.fixture.ts';
import { bitsOf } from '../core/stand-in.fixture.ts';
import { attached } from './fake-player.fixture.ts';

useManualClock();

test('cached segments are not measured', () => {
  const { controller, player } = attached({ controller: new Scripted() });
  player.download(0, 3e6, 0.05);
  const cached = player.send(1);
  cached.arrived(4e6);
  cached.completed(4e6);
  player.ask();
  expect(controller.states[0]!.downloads.map(({ segmentIndex }) => segmentIndex)).toEqual([0]);
});

test('on a link that was slow and becomes fast, MPC-L and MPC-D switch up', () => {
  for (const controller of ['mpc-l', 'mpc-d'] as const) {
    const { player, faults } = attached({ controller, ...(controller === 'mpc-l' && { prior: false }) });
    player.ask();
    player.download(0, 4e5, 0.8);
    const asked: (number | undefined)[] = [];
    for (let index = 1; index < 10; index++) {
      asked.push(player.ask());
      player.download(index, 4e6, 0.005, 0);
      player.bufferLevelSeconds = 0;
      wait(4);
    }
    expect([controller, ...asked.slice(3)]).toEqual([controller, ...Array(6).fill(2)]);
    expect(faults).toEqual([]);
  }
});

describe('bytes are counted with any headers', () => {
  /** Steps of 0.25 s with 100 kB each. */
  const steps = (count: number, step: () => void) => {
    for (let i = 0; i < count; i++) {
      wait(0.25);
      step();
    }
  };

  test("without a length, from dash.js's traces", () => {
    const steady = new Steady();
    const { controller, player, handle } = attached({ controller: new Scripted(), forecasters: [steady] });
    player.ask();
    const traces: { b: number[] }[] = [];
    const request = player.send(0, 0, { traces });
    steps(5, () => {
      traces.push({ b: [100e3] });
      player.emit('loadingProgress', { request });
    });
    request.endDate = new Date();
    player.emit('fragmentLoadingCompleted', { request, response: { byteLength: 500e3 } });
    player.ask();
    expect(controller.states[1]!.downloads).toMatchObject([
      { receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: 1.25, latencySeconds: 0.25 },
    ]);
    wait(1);
    player.send(1);
    expect(bitsOf(steady)).toBeCloseTo(4e6);
    expect(handle.state.requestedBits).toBe(4e6 + 4e6);
  });

  test('in low-latency mode, from the parts of the body', () => {
    const { controller, player } = attached({ controller: new ScriptedAbandoning() });
    player.ask();
    const request = player.send(0);
    steps(4, () => player.chunk(request, new ArrayBuffer(100e3)));
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({ receivedBits: 3.2e6 });
    request.completed(3.28e6);
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 3.28e6, downloadSeconds: 1.1 }]);
  });

  test('in low-latency mode, parts of a failed attempt do not count for the next one', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    const request = player.send(0);
    const part = () => player.chunk(request, new ArrayBuffer(100e3));
    steps(2, part);
    Object.assign(request, { startDate: new Date() });
    player.attempt(request);
    steps(3, part);
    Object.assign(request, { endDate: new Date() });
    player.emit('fragmentLoadingCompleted', { request });
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 2.4e6, downloadSeconds: 0.75 }]);
  });

  test('without progress events, from the body', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    const request = player.send(0);
    wait(0.5);
    request.endDate = new Date();
    player.emit('fragmentLoadingCompleted', { request, response: { byteLength: 250e3 } });
    player.ask();
    const [download] = controller.states[1]!.downloads;
    expect(download).toMatchObject({ receivedBits: 2e6, downloadSeconds: 0.5 });
    expect(download).not.toHaveProperty('latencySeconds');
  });
});
