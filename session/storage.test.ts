/** All that a session writes and sends: docs/privacy.md lists it. */

import { expect, test } from '@jest/globals';
import { adapted } from './fake-port.fixture.ts';
import { HOST } from './host.fixture.ts';
import type { LeoAbrOptions } from './page/option-types.ts';
import { useManualClock, wait } from './scripted.fixture.ts';

useManualClock();

/** Twenty downloads of a second; returns each call of storage and network. */
function played(options: LeoAbrOptions): string[] {
  const calls: string[] = [];
  const storage = {
    getItem(key: string) {
      calls.push(`get ${key}`);
      return null;
    },
    setItem: (key: string, value: string) => void calls.push(`set ${key} ${value}`),
  };
  const host = {
    ...HOST,
    storage: () => storage,
    async fetch(url: string | URL) {
      calls.push(`fetch ${url}`);
      return new Response('{"representations": {"v0": [1]}}');
    },
  };
  const { port, flow } = adapted(options, undefined, host);
  for (let index = 0; index < 20; index++) {
    flow.decide();
    const request = {};
    flow.began(request, { isMedia: true, segment: port.segment(index) });
    for (let k = 1; k <= 10; k++) {
      wait(0.1);
      flow.progressed(request, { totalBits: k * 1e5 });
    }
    flow.ended(request, 'whole');
  }
  flow.sourceEnded();
  flow.stop();
  return calls;
}

const EVERYTHING: LeoAbrOptions = {
  ...{ sizes: 'https://a.example/sizes.json', quality: 'https://a.example/quality.json' },
  ...{ pageLoad: true, cmcd: true, debug: () => {}, live: { targetLatencySeconds: 3 } },
};

test('with everything on, one entry is kept and the files that the page names are fetched', () => {
  const calls = played(EVERYTHING);
  const ways = new Set(calls.map((call) => call.replace(/ \{.*/, '')));
  const files = [EVERYTHING.sizes, EVERYTHING.quality].map((url) => `fetch ${url}`);
  expect(ways).toEqual(new Set([...files, 'get leo-abr', 'set leo-abr']));
  const [, kept] = calls
    .filter((call) => call.startsWith('set'))
    .at(-1)!
    .split('leo-abr ');
  const numbers = expect.any(Number);
  expect(JSON.parse(kept!)).toEqual({ 'https://media.example': [numbers, numbers, 1, numbers] });
});

test.each<LeoAbrOptions>([
  { storage: false },
  { storage: false, prior: true },
  { prior: false },
  { controller: 'mpc-d' },
])('with %j nothing is read, kept or fetched', (options) => {
  expect(played(options)).toEqual([]);
});
