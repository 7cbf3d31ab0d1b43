import { expect, test } from '@jest/globals';
import { adapted, FakePort, livePort } from '../fake-port.fixture.ts';
import { broken, ScriptedAbandoning, useManualClock, wait } from '../scripted.fixture.ts';

useManualClock();

const CHOICE = { representationId: 'v0', message: 'scripted: scripted' };

/** `asked`: how often the controller has been asked after another decision; `requests`: a segment of the port. */
function scripted(port = new FakePort(), controller = new ScriptedAbandoning()) {
  const core = adapted({ controller }, port);
  const asked = () => {
    core.decisions.decide();
    return controller.states.length;
  };
  const requests = (index: number, representation?: number) => {
    const request = {};
    core.downloads.requested(request, { isMedia: true, segment: port.segment(index, representation) });
    return request;
  };
  return { ...core, asked, requests, messages: () => core.events.faults.map(({ message }) => message) };
}

test('decide asks for the situation of a first segment, whose ladder the page may restrict', () => {
  const { port, controller, asked, requests, sourceEnded } = scripted();
  asked();
  requests(0);
  asked();
  sourceEnded();
  port.now = { ...port.now!, playableUntilSeconds: 9 };
  asked();
  expect(controller.states.map(({ segmentIndex }) => segmentIndex)).toEqual([0, 1, 2]);
  expect(port.firsts).toEqual([true, false, true]);
});

test('a bitrate that the stream does not declare has no price before a size is learnt', () => {
  const prices = ([{ isEstimated: true }, {}] as const).map((more) => {
    const port = new FakePort();
    port.now = { ...port.now!, ladder: port.now!.ladder.map((one) => ({ ...one, ...more })) };
    const controller = new ScriptedAbandoning();
    adapted({ controller, qoe: 'perceived', saveData: 3 }, port).decisions.decide();
    return controller.states[0]!.weights.pricePerMbps;
  });
  expect(prices).toEqual([0, 3]);
});

test('decide asks the controller once per segment on demand, if the player asks again and again', () => {
  const core = scripted(Object.assign(new FakePort(), { isPolled: true }));
  const { controller, port, decisions, asked, requests, events } = core;
  asked();
  port.play({ bufferLevelSeconds: 1 });
  expect([decisions.decide(), asked()]).toEqual([CHOICE, 1]);
  requests(0);
  expect(asked()).toBe(2);
  controller.instead = 1;
  expect([decisions.reconsider(0)?.representationId, decisions.decide()]).toEqual(['v1', CHOICE]);
  controller.reconsider = () => undefined as never;
  expect([decisions.reconsider(0), events.faults]).toMatchObject([undefined, [{ code: 'controller-failed' }]]);
});

test('decide asks the controller once per segment of a live stream, unless something new is known', () => {
  const core = scripted(livePort({ latencySeconds: 8, targetLatencySeconds: 8, nowSeconds: 8, firstChunkSeconds: 4 }));
  const { port, asked, requests, downloads, session, planner, decisions, emitted } = core;
  port.play({ bufferLevelSeconds: 0 });
  expect(asked()).toBe(1);
  port.play({ bufferLevelSeconds: 1, playbackRate: 1.05 });
  expect([asked(), asked(), emitted.length]).toEqual([1, 1, 1]);
  expect(decisions.decide()).toEqual(CHOICE);
  const changes = [{ bufferLevelSeconds: 7 }, { bufferCapSeconds: 1 }, { playbackRate: 2 }, { isPaused: true }];
  for (const [i, change] of changes.entries()) {
    port.play(change);
    expect(asked()).toBe(2 + i);
  }
  port.now = { ...port.now!, ladder: port.now!.ladder.slice(1) };
  expect(asked()).toBe(6);
  port.now = { ...port.now!, period: { ...port.now!.period, id: 'p1' } };
  expect(asked()).toBe(7);
  const request = requests(0);
  expect([asked(), asked()]).toEqual([8, 8]);
  downloads.ended(request, 'failed', 1);
  expect(asked()).toBe(9);
  session.playing();
  session.seeked();
  expect(asked()).toBe(10);
  planner.renew();
  expect(asked()).toBe(11);
});

test('decide leaves the segment to the player if the controller fails or leaves the ladder, with one fault', () => {
  for (const [first, got] of [[() => undefined as never, undefined] as const, [3, 3] as const]) {
    const { controller, decisions, messages, emitted, session } = scripted();
    for (const next of [first, broken]) {
      controller.next = next;
      expect(decisions.decide()).toBeUndefined();
    }
    expect(messages()).toEqual([`the controller failed: expected a representation from 0 to 2, got ${got}`]);
    expect([emitted, session.record.decision]).toEqual([[], undefined]);
  }
});

test('decide leaves segments to the player after three unmeasured downloads, until one is measured', () => {
  const { decisions, downloads, requests, messages, session } = scripted();
  for (const index of [0, 1, 2]) {
    expect(decisions.decide()).toEqual(CHOICE);
    downloads.ended(requests(index), 'whole', 1);
  }
  expect([decisions.decide(), session.record.requestedBits]).toEqual([undefined, 0]);
  expect(messages()).toEqual(['no download could be measured: the player decides']);
  const request = requests(3);
  wait(1);
  downloads.received(request, { totalBits: 4e6 });
  downloads.ended(request, 'whole', 1);
  expect(decisions.decide()).toEqual(CHOICE);
});

test('reconsider asks a controller that keeps the download for certain after that time, and anew for another download', () => {
  const { controller, port, decisions, requests } = scripted();
  let keeps = 1;
  Object.assign(controller, { keepsForSeconds: () => keeps });
  const asked = (ticks: number) => {
    const before = controller.inFlights.length;
    wait(ticks / 10);
    return controller.inFlights.length - before;
  };
  requests(3, 2);
  expect(asked(25)).toBe(3);
  expect(port.firsts).toHaveLength(3);
  keeps = 0.15;
  requests(3, 2);
  expect(asked(4)).toBe(2);
  keeps = 0;
  expect(asked(4)).toBe(4);
  controller.next = () => ({ representation: 2, controller: 'scripted', reason: '', keepsForSeconds: 0.25 });
  decisions.decide();
  requests(3, 2);
  expect(asked(4)).toBe(2);
});

test('reconsider is undefined for a download of a period that the player has left', () => {
  const { controller, port, decisions, requests } = scripted();
  requests(9);
  port.now = { ...port.now!, period: { ...port.now!.period, id: 'p1', startSeconds: 40, firstIndex: 10 } };
  expect(decisions.reconsider(0)).toBeUndefined();
  expect(controller.inFlights).toEqual([]);
});
