/** What a page of a trial has: a storage, and globals that a test replaces. */

import { afterEach, beforeEach } from '@jest/globals';
import { useManualClock } from '../../session/scripted.fixture.ts';

const undo: (() => void)[] = [];
/** Until the end of the test. */
export function define(name: string, value: unknown): void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name) ?? { value: undefined, configurable: true };
  undo.unshift(() => Object.defineProperty(globalThis, name, before));
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** What the storage keeps. */
export const items = new Map<string, string>();
export const STORAGE = {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
};

/** For all tests of a file. */
export function usePage(): void {
  useManualClock();
  beforeEach(() => {
    items.clear();
    define('localStorage', STORAGE);
  });
  afterEach(() => {
    for (const step of undo.splice(0)) step();
  });
}

export const settled = async () => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
