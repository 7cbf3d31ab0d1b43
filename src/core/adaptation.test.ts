import { describe, expect, jest, test } from '@jest/globals';
import { adapted } from './fake-port.fixture.ts';
import { useManualClock } from './manual-clock.fixture.ts';
import { Scripted, Steady } from './scripted.fixture.ts';

useManualClock();

describe('the core', () => {
  test('the clock starts with the first media request, not with an init segment', () => {
    const { clock, downloads } = adapted({ controller: new Scripted() });
    downloads.requested({}, { isMedia: false });
    jest.advanceTimersByTime(1000);
    expect(clock.nowSeconds()).toBe(0);
    downloads.requested({}, { isMedia: true });
    jest.advanceTimersByTime(1000);
    expect(clock.nowSeconds()).toBe(1);
  });

  test("another source begins a session without the last one's records and decision", () => {
    const core = adapted({ forecasters: [new Steady()], prior: false });
    const { port, session, clock, planner, decisions, downloads, sourceEnded } = core;
    decisions.decide();
    downloads.requested({}, { isMedia: true, segment: port.segment(0) });
    const { controller } = planner;
    expect(session.record).toMatchObject({ number: 1, decision: { controller: 'mpc-l' } });
    expect(session.record.forecast?.source).toBe('steady');
    sourceEnded();
    expect(session.record).toMatchObject({ number: 2, started: false, measured: [] });
    expect(session.record.decision).toBeUndefined();
    expect(session.record.forecast).toBeUndefined();
    expect(session.record.requestedBits).toBe(0);
    expect(planner.controller).not.toBe(controller);
    expect(clock.nowSeconds()).toBe(0);
  });

  test('forecasting starts once per session, with UTC at second 0', () => {
    const steady = new Steady();
    const { planner, sourceEnded } = adapted({
      controller: new Scripted(),
      forecasters: [steady],
      timeSource: { now: () => ({ utcMs: Date.now(), uncertaintySeconds: 1 }) },
      seed: 7,
    });
    planner.startForecasting();
    planner.startForecasting();
    expect(steady.contexts).toEqual([{ seed: 7, utcMsAtStart: Date.now(), utcUncertaintySeconds: 1 }]);
    sourceEnded();
    planner.startForecasting();
    expect(steady.contexts).toHaveLength(2);
  });

  test('a time source that fails is one fault, and UTC is unknown', () => {
    const steady = new Steady();
    const { planner, clock, events } = adapted({
      controller: new Scripted(),
      forecasters: [steady],
      timeSource: { now: () => ({ utcMs: Number.NaN, uncertaintySeconds: 1 }) },
    });
    planner.startForecasting();
    expect(steady.contexts).toEqual([{ seed: 1 }]);
    expect(clock.read()).toEqual({ nowSeconds: 0 });
    expect(events.faults.map(({ message }) => message)).toEqual(['the time source failed: NaN +- 1']);
  });

  test('a seek before the first picture does not count', () => {
    const { port, session, downloads } = adapted({ controller: new Scripted() });
    downloads.requested({}, { isMedia: true, segment: port.segment(0) });
    expect(session.seeked()).toBe(false);
    expect(session.record.last).toBeDefined();
    session.playing();
    expect(session.seeked()).toBe(true);
    expect(session.record.last).toBeUndefined();
  });

  test("an error in a handler is one fault with the player's name, and no handler runs after the end", () => {
    const { guard, events, stop } = adapted({ controller: new Scripted() });
    const fail = () => {
      throw new Error('broken');
    };
    expect(guard(() => 3)).toBe(3);
    expect(guard(fail)).toBeUndefined();
    stop();
    expect(guard(() => 3)).toBeUndefined();
    expect(events.faults.map(({ code, message }) => [code, message])).toEqual([
      ['player-failed', 'the player is not as expected: broken'],
    ]);
  });
});
