/** What tests of the plugin have in place of a page: a clock, and controllers and a forecaster with scripted results. */

import { afterEach, beforeEach, jest } from '@jest/globals';
import type { Controller, Decision, InFlight, Pace, PlayerState } from '../abr/controller.ts';
import type { Forecaster, Observation, SessionContext } from '../abr/forecast.ts';

/** For all tests of a file: real timers that the plugin left behind would keep the test runner from ending. */
export function useManualClock(): void {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'], now: 1_700_000_000_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
}

export const wait = (seconds: number) => jest.advanceTimersByTime(Math.round(seconds * 1000));

/** Stands for whatever fails. */
export function broken(): never {
  throw new Error('broken');
}

const decision = (representation: number, reason = 'scripted') => ({ representation, controller: 'scripted', reason });

/** Records its arguments, as the others do. */
export class Scripted implements Controller {
  readonly name = 'scripted';
  instead: number | undefined;
  readonly states: PlayerState[] = [];
  readonly inFlights: InFlight[] = [];

  constructor(public next: number | (() => Decision) = 0) {}

  decide(state: PlayerState): Decision {
    this.states.push(state);
    return typeof this.next === 'function' ? this.next() : decision(this.next);
  }
}

export class ScriptedAbandoning extends Scripted {
  reconsider(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    this.states.push(state);
    this.inFlights.push(inFlight);
    return typeof this.instead === 'number' ? decision(this.instead, 'slow') : 'keep';
  }
}

/** Paces as `pace` says; its `states` are the states of paces. */
export class ScriptedPacing extends Scripted {
  more: Partial<Pace> | undefined;

  constructor(public rate = 0.95) {
    super();
  }

  override decide(): Decision {
    return decision(0);
  }

  pace(state: PlayerState): Pace {
    this.states.push(state);
    return { playbackRate: this.rate, jump: false, targetLatencySeconds: 3, reason: 'scripted', ...this.more };
  }
}

/** Forecasts a median of 8 Mbit/s throughout. */
export class Steady implements Forecaster {
  readonly name = 'steady';
  readonly contexts: SessionContext[] = [];
  readonly observations: Observation[] = [];

  start(context: SessionContext): void {
    this.contexts.push(context);
    this.observations.length = 0;
  }

  observe(observation: Observation): void {
    this.observations.push(observation);
  }

  latest(nowSeconds: number) {
    return {
      issuedAtMs: nowSeconds * 1000,
      source: 'steady',
      stepEndsSeconds: [4],
      levels: [0.1, 0.5, 0.9],
      quantilesBps: [[6e6, 8e6, 10e6]],
      rankCorrelation: 0.5,
      handovers: [],
    };
  }
}

/** What the meter has told a forecaster. */
export const bitsOf = ({ observations }: Steady): number =>
  observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);
