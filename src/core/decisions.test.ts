import { describe, expect, test } from '@jest/globals';
import { adapted, FakePort } from './fake-port.fixture.ts';
import { useManualClock } from './manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning } from './scripted.fixture.ts';

useManualClock();

describe('decide', () => {
  test('returns the representation and the reason, and emits the decision with its inputs', () => {
    const { controller, port, decisions, emitted, session } = adapted({ controller: new Scripted() });
    controller.next = 1;
    expect(decisions.decide()).toEqual({ representationId: 'v1', message: 'scripted: scripted' });
    expect(emitted).toEqual([
      {
        kind: 'decide',
        session: 1,
        decision: { representation: 1, controller: 'scripted', reason: 'scripted' },
        state: controller.states[0],
        forecast: undefined,
        inFlight: undefined,
        representationId: 'v1',
        streamId: 'p0',
      },
    ]);
    expect(session.record.decision).toBe(emitted[0]!.decision);
    expect(port.firsts).toEqual([true]);
  });

  test('asks for the situation of a first segment, whose ladder the page may restrict', () => {
    const { port, decisions, downloads, sourceEnded } = adapted({ controller: new Scripted() });
    decisions.decide();
    downloads.requested({}, { isMedia: true, segment: port.segment(0) });
    decisions.decide();
    sourceEnded();
    decisions.decide();
    expect(port.firsts).toEqual([true, false, true]);
  });

  test('asks the controller once per segment on demand, if the player asks again and again', () => {
    const controller = new Scripted();
    const port = Object.assign(new FakePort(), { isPolled: true });
    const { decisions, downloads } = adapted({ controller }, port);
    decisions.decide();
    port.play({ bufferLevelSeconds: 1 });
    expect(decisions.decide()).toEqual({ representationId: 'v0', message: 'scripted: scripted' });
    expect(controller.states).toHaveLength(1);
    downloads.requested({}, { isMedia: true, segment: port.segment(0) });
    decisions.decide();
    expect(controller.states).toHaveLength(2);
  });

  test('asks the controller once per segment of a live stream, unless something new is known', () => {
    const { controller, port, decisions, downloads, session, planner, emitted } = adapted({
      controller: new Scripted(),
    });
    const times = { latencySeconds: 8, targetLatencySeconds: 8, nowSeconds: 8, firstChunkSeconds: 4 };
    const live = { ...times, playbackRates: { min: 1, max: 1 }, maxLatencySeconds: 20, isPaceable: false };
    port.now = { ...port.now!, live };
    const asked = () => {
      decisions.decide();
      return controller.states.length;
    };
    const change = (playback: object) => {
      port.now = { ...port.now!, playback: { ...port.now!.playback, ...playback } };
    };
    expect(asked()).toBe(1);
    change({ bufferLevelSeconds: 1, playbackRate: 1.05 });
    expect([asked(), asked(), emitted.length]).toEqual([1, 1, 1]);
    expect(decisions.decide()).toEqual({ representationId: 'v0', message: 'scripted: scripted' });
    change({ bufferLevelSeconds: 7 });
    expect(asked()).toBe(2);
    change({ bufferCapSeconds: 1 });
    expect(asked()).toBe(3);
    change({ playbackRate: 2 });
    expect(asked()).toBe(4);
    change({ isPaused: true });
    expect(asked()).toBe(5);
    port.now = { ...port.now!, ladder: port.now!.ladder.slice(1) };
    expect(asked()).toBe(6);
    port.now = { ...port.now!, period: { ...port.now!.period, id: 'p1' } };
    expect(asked()).toBe(7);
    const request = {};
    downloads.requested(request, { isMedia: true, segment: port.segment(0) });
    expect([asked(), asked()]).toEqual([8, 8]);
    downloads.ended(request, 'failed', 1);
    expect(asked()).toBe(9);
    session.playing();
    session.seeked();
    expect(asked()).toBe(10);
    planner.renew();
    expect(asked()).toBe(11);
  });

  test('is undefined while the player does not adapt', () => {
    const { controller, port, decisions } = adapted({ controller: new Scripted() });
    port.now = undefined;
    expect(decisions.decide()).toBeUndefined();
    expect(controller.states).toEqual([]);
  });

  test('leaves the segment to the player if the controller fails or leaves the ladder, with one fault', () => {
    const silent = adapted({ controller: { name: 'silent', decide: () => undefined as never } });
    expect(silent.decisions.decide()).toBeUndefined();
    expect(silent.events.faults[0]?.message).toBe('the controller failed: there is no representation undefined');
    const { controller, decisions, events, emitted, session } = adapted({ controller: new Scripted() });
    controller.next = 3;
    expect(decisions.decide()).toBeUndefined();
    controller.next = () => {
      throw new Error('broken');
    };
    expect(decisions.decide()).toBeUndefined();
    expect(events.faults.map(({ message }) => message)).toEqual([
      'the controller failed: there is no representation 3',
    ]);
    expect(emitted).toEqual([]);
    expect(session.record.decision).toBeUndefined();
  });

  test('leaves segments to the player while no download can be measured', () => {
    const { port, decisions, downloads, events } = adapted({ controller: new Scripted() });
    for (let index = 0; index < 3; index++) {
      const request = {};
      downloads.requested(request, { isMedia: true, segment: port.segment(index) });
      downloads.ended(request, 'whole', 1);
    }
    expect(decisions.decide()).toBeUndefined();
    expect(events.faults.map(({ message }) => message)).toEqual([
      'no download could be measured: the player decides until one can',
    ]);
  });
});

describe('reconsider', () => {
  test('passes the download in flight; undefined if the controller keeps it', () => {
    const { controller, port, decisions, downloads, emitted } = adapted({ controller: new ScriptedAbandoning() });
    expect(decisions.reconsider()).toBeUndefined();
    downloads.requested({}, { isMedia: true, segment: port.segment(3, 2) });
    expect(decisions.reconsider()).toBeUndefined();
    expect(controller.inFlights).toMatchObject([{ segmentIndex: 3, bitrateBps: 4e6, sizeBits: 16e6 }]);
    expect(controller.states[0]).toMatchObject({ segmentIndex: 3, segmentsRemaining: 7 });
    expect(emitted).toEqual([]);
    controller.instead = 0;
    expect(decisions.reconsider()).toEqual({ representationId: 'v0', message: 'scripted: slow' });
    expect(emitted).toMatchObject([{ kind: 'abandon', inFlight: { segmentIndex: 3 }, representationId: 'v0' }]);
    expect(port.firsts).toEqual([false, false]);
  });

  test('is undefined for a download of a period that the player has left', () => {
    const { controller, port, decisions, downloads } = adapted({ controller: new ScriptedAbandoning() });
    downloads.requested({}, { isMedia: true, segment: port.segment(9) });
    port.now = { ...port.now!, period: { ...port.now!.period, id: 'p1', startSeconds: 40, firstIndex: 10 } };
    expect(decisions.reconsider()).toBeUndefined();
    expect(controller.inFlights).toEqual([]);
  });
});
