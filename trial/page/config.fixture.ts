/** What a page of a trial has: a storage, and an address with the trial's configuration. */

import { afterEach, beforeEach, jest } from '@jest/globals';
import { useManualClock } from '../../session/scripted.fixture.ts';
import { assignArm, type ConfiguredTrial } from '../index.ts';

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

export const URL_OF = 'https://cdn.example/leo-abr.json';
export const GOOD = { schema: 1, enabled: true, trial: 'spring', shares: { player: 0.5, 'mpc-l': 0.5 } };
export const VIEWERS = Array.from({ length: 2000 }, (_, i) => `viewer ${i}`);

/** What the address answers. */
let answer: () => Response | Promise<Response>;
export const answers = (next: typeof answer) => {
  answer = next;
};
export const asked: [url: string, init: RequestInit][] = [];
export const says = (config: unknown, status = 200) => {
  answer = () => new Response(typeof config === 'string' ? config : JSON.stringify(config), { status });
};

export function useConfigAddress(): void {
  usePage();
  beforeEach(() => {
    asked.length = 0;
    define('fetch', async (url: string, init: RequestInit) => {
      asked.push([url, init]);
      return answer();
    });
    define('location', { origin: 'http://page.example', href: 'http://page.example/watch/' });
    says(GOOD);
  });
}

export const warn = jest.fn();
export const assign = (more: Partial<ConfiguredTrial> = {}) =>
  assignArm({ config: URL_OF, key: 'viewer 1', logger: { warn }, ...more });
export const settled = async () => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
