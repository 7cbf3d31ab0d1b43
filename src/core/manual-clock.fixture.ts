/** A clock that tests advance. */

import { afterEach, beforeEach, jest } from '@jest/globals';

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
