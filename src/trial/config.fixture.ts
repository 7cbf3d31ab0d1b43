/** An address with a trial's configuration, in a page. */

import { afterEach, beforeEach, jest } from '@jest/globals';
import { useManualClock } from '../../session/scripted.fixture.ts';
import { assignArm, type ConfiguredTrial } from '../trial.ts';

export const URL_OF = 'https://cdn.example/leo-abr.json';
export const GOOD = { schema: 1, enabled: true, trial: 'spring', shares: { player: 0.5, 'mpc-l': 0.5 } };
export const VIEWERS = Array.from({ length: 2000 }, (_, i) => `viewer ${i}`);

/** What the address answers. */
let answer: () => Response | Promise<Response>;
export const answers = (next: typeof answer) => {
  answer = next;
};
export const items = new Map<string, string>();
export const asked: [url: string, init: RequestInit][] = [];
const saved = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(([name]) =>
  ['fetch', 'localStorage', 'location'].includes(name),
);

export const says = (config: unknown, status = 200) => {
  answer = () => new Response(typeof config === 'string' ? config : JSON.stringify(config), { status });
};

/** For all tests of a file. */
export function useConfigAddress(): void {
  useManualClock();
  beforeEach(() => {
    asked.length = 0;
    items.clear();
    const localStorage = {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
    };
    const fetch = async (url: string, init: RequestInit) => {
      asked.push([url, init]);
      return answer();
    };
    const location = { origin: 'http://page.example', href: 'http://page.example/watch/' };
    for (const [name, value] of Object.entries({ localStorage, fetch, location })) {
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
    says(GOOD);
  });
  afterEach(() => {
    for (const name of ['fetch', 'localStorage', 'location']) Reflect.deleteProperty(globalThis, name);
    for (const [name, descriptor] of saved) Object.defineProperty(globalThis, name, descriptor);
  });
}

export const warn = jest.fn();
export const assign = (more: Partial<ConfiguredTrial> = {}) =>
  assignArm({ config: URL_OF, key: 'viewer 1', logger: { warn }, ...more });
export const settled = async () => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
