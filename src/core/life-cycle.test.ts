import { describe, expect, jest, test } from '@jest/globals';
import { adapted } from './fake-port.fixture.ts';
import { useManualClock } from './manual-clock.fixture.ts';
import { Scripted, Steady } from './scripted.fixture.ts';

useManualClock();

describe('the life cycle', () => {
  test('the clock starts with the first media request, not with an init segment', () => {
    const { life, downloads } = adapted({ controller: new Scripted() });
    downloads.begun({}, false, undefined);
    jest.advanceTimersByTime(1000);
    expect(life.nowSeconds()).toBe(0);
    downloads.begun({}, true, undefined);
    jest.advanceTimersByTime(1000);
    expect(life.nowSeconds()).toBe(1);
  });

  test("another source begins a session without the last one's records and decision", () => {
    const { port, life, decisions, downloads, sourceEnded } = adapted({ forecasters: [new Steady()], prior: false });
    decisions.decide();
    downloads.begun({}, true, port.segment(0));
    const { session, controller } = { session: life.session(), controller: life.controller() };
    expect(session).toMatchObject({ number: 1, lastDecision: { controller: 'mpc-l' } });
    expect(session.lastForecast?.source).toBe('steady');
    sourceEnded();
    expect(life.session()).toMatchObject({ number: 2, started: false, measured: [], requestedBits: 0 });
    expect(life.session().lastDecision).toBeUndefined();
    expect(life.session().lastForecast).toBeUndefined();
    expect(life.controller()).not.toBe(controller);
    expect(life.nowSeconds()).toBe(0);
  });

  test('forecasting starts once per session, with UTC at second 0', () => {
    const steady = new Steady();
    const { life, sourceEnded } = adapted({
      controller: new Scripted(),
      forecasters: [steady],
      timeSource: { now: () => ({ utcMs: Date.now(), uncertaintySeconds: 1 }) },
      seed: 7,
    });
    life.startForecasting();
    life.startForecasting();
    expect(steady.contexts).toEqual([{ seed: 7, utcMsAtStart: Date.now(), utcUncertaintySeconds: 1 }]);
    sourceEnded();
    life.startForecasting();
    expect(steady.contexts).toHaveLength(2);
  });

  test('a time source that fails is one fault, and UTC is unknown', () => {
    const steady = new Steady();
    const { life, events } = adapted({
      controller: new Scripted(),
      forecasters: [steady],
      timeSource: { now: () => ({ utcMs: Number.NaN, uncertaintySeconds: 1 }) },
    });
    life.startForecasting();
    expect(steady.contexts).toEqual([{ seed: 1 }]);
    expect(life.clocks()).toEqual({ nowSeconds: 0 });
    expect(events.faults.map(({ message }) => message)).toEqual(['the time source failed: NaN +- 1']);
  });

  test('a seek before the first picture does not count', () => {
    const { port, life, downloads } = adapted({ controller: new Scripted() });
    downloads.begun({}, true, port.segment(0));
    expect(life.seeked()).toBe(false);
    expect(life.session().last).toBeDefined();
    life.playing();
    expect(life.seeked()).toBe(true);
    expect(life.session().last).toBeUndefined();
  });

  test("an error in a handler is one fault with the player's name, and no handler runs after the end", () => {
    const { life, events, stop } = adapted({ controller: new Scripted() });
    const fail = () => {
      throw new Error('broken');
    };
    expect(life.guard(() => 3)).toBe(3);
    expect(life.guard(fail)).toBeUndefined();
    stop();
    expect(life.guard(() => 3)).toBeUndefined();
    expect(events.faults.map(({ code, message }) => [code, message])).toEqual([
      ['player-failed', 'the player is not as expected: broken'],
    ]);
  });
});
