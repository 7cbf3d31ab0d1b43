/** Downloads that are given up, also while nothing at all arrives. */

import type { Page } from '@playwright/test';
import { expect, test } from './playback-test.ts';

/** An outage of 4 s, 2 s into the session. */
const OUTAGE: [number, number][] = [
  [2, 8e6],
  [6, 0],
  [60, 8e6],
];

for (const hasMethod of [true, false]) {
  const what = hasMethod
    ? 'a download that stalls is repeated at a lower bitrate'
    : 'a dash.js without the method to abandon costs a fault, and a download that stalls goes on';
  test(what, async ({ labPage, stream }) => {
    await installTakeMethodAway(labPage);
    const seen = await labPage.evaluate(
      async ({ manifest, hasMethod }) => {
        const controller = {
          name: 'abandoning',
          decide: ({ ladderBps }: { ladderBps: readonly number[] }) => ({
            representation: ladderBps.length - 1,
            controller: 'abandoning',
            reason: 'the top',
          }),
          reconsider: (
            { nowSeconds, ladderBps }: { nowSeconds: number; ladderBps: readonly number[] },
            inFlight: { requestedAtSeconds: number; bitrateBps: number; abandonments: number },
          ) =>
            nowSeconds - inFlight.requestedAtSeconds > 2.5 && inFlight.bitrateBps !== ladderBps[0]
              ? { representation: 0, controller: 'abandoning', reason: 'slow' }
              : ('keep' as const),
        };
        const lab = window.lab.start({ options: { controller } });
        const { player, video, decisions, requests, faults } = lab;
        if (!hasMethod) window.takeMethodAway(player);
        player.initialize(video, manifest, true);
        await window.lab.until('the end', () => video.ended);
        return {
          faults,
          requests,
          events: decisions.map(({ kind, state, inFlight, representationId }) => ({
            kind,
            index: state.segmentIndex,
            representationId,
            receivedBits: inFlight?.receivedBits,
            nowSeconds: state.nowSeconds,
          })),
          abandoned: decisions.at(-1)!.state.downloads.filter(({ abandoned }) => abandoned),
        };
      },
      {
        manifest: `${stream({ ladderBps: [300e3, 6e6], segmentSeconds: 2, segmentCount: 4, link: OUTAGE })}manifest.mpd`,
        hasMethod,
      },
    );
    expect(new Set(seen.requests.map((request) => request.index))).toEqual(new Set([0, 1, 2, 3]));
    if (!hasMethod) {
      expect(seen.faults.map(({ code }) => code)).toEqual(['player-failed']);
      expect(seen.requests).toHaveLength(4);
      return;
    }
    expect(seen.faults).toEqual([]);
    const given = seen.events.filter(({ kind }) => kind === 'abandon');
    expect(given.length).toBeGreaterThan(0);
    const { index } = given[0]!;
    // The same segment again, lower, and each segment in the end.
    const repeated = seen.requests.filter((request) => request.index === index);
    expect(repeated.map(({ representationId }) => representationId)).toEqual(['video-1', 'video-0']);
    expect(seen.abandoned.length).toBe(given.length);
    for (const { receivedBits, sizeBits } of seen.abandoned) expect(receivedBits).toBeLessThan(sizeBits);
  });
}

test('mpc-d:abandon leaves a dead link for the lowest representation', async ({ labPage, stream }) => {
  const seen = await labPage.evaluate(
    async (manifest) => {
      const { video, decisions, faults } = window.lab.start({
        manifest,
        options: { controller: 'mpc-d:abandon' },
        settings: { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } },
      });
      await window.lab.until('the end', () => video.ended);
      return { faults, kinds: decisions.map(({ kind, decision }) => `${kind} ${decision.controller}`) };
    },
    `${stream({ ladderBps: [300e3, 1e6, 3e6], segmentSeconds: 2, segmentCount: 5, link: OUTAGE })}manifest.mpd`,
  );
  expect(seen.faults).toEqual([]);
  expect(seen.kinds).toContain('abandon mpc-d:abandon');
});

declare global {
  interface Window {
    /** The plugin's rule sees dash.js without `setPlaybackQuality`. */
    takeMethodAway(player: { getABRCustomRules(): { rulename: string; rule: unknown }[] }): void;
  }
}

async function installTakeMethodAway(page: Page): Promise<void> {
  await page.evaluate(() => {
    type Rules = { getAbrController(): object };
    type Make = (context: unknown) => { create(): { getSwitchRequest(rules: Rules): unknown } };
    window.takeMethodAway = (player) => {
      const rule = player.getABRCustomRules().find(({ rulename }) => rulename === 'LeoAbrRule')!;
      const make = rule.rule as Make;
      rule.rule = (context: unknown) => ({
        create() {
          const instance = make(context).create();
          const { getSwitchRequest } = instance;
          instance.getSwitchRequest = (rules) =>
            getSwitchRequest({
              ...rules,
              getAbrController: () => ({ ...rules.getAbrController(), setPlaybackQuality: undefined }),
            });
          return instance;
        },
      });
    };
  });
}

/** What a session of MPC-L on a link that fails looks like. */
interface Watched {
  faults: unknown[];
  requests: { index: number; level: number }[];
  events: { kind: string; index: number; level: number; nowSeconds: number; receivedBits: number | undefined }[];
  /** By dash.js, not by the plugin. */
  abandoned: { index: number; receivedBits: number }[];
  wastedBits: number;
  requestedBits: number;
}

const LADDER_BPS = [300e3, 1e6, 3e6, 6e6];
/** Fine, then next to nothing or nothing, then fine again: from second 9 to 14 where nothing else is said. */
const failing = (bps: number, fromSeconds = 9, untilSeconds = 14): [number, number][] => [
  [fromSeconds, 10e6],
  [untilSeconds, bps],
  [60, 10e6],
];

/** Plays such a session: segments of 2 s, a buffer of 6 s. */
async function watch(page: Page, manifest: string, { options = {}, segments = 12 } = {}): Promise<Watched> {
  return page.evaluate(
    async ({ manifest, options, segments }) => {
      const lab = window.lab.start({
        options: { abandon: true, ...options },
        settings: {
          streaming: {
            buffer: { bufferTimeDefault: 6, bufferTimeAtTopQuality: 6, bufferTimeAtTopQualityLongForm: 6 },
            scheduling: { defaultTimeout: 20 },
          },
        },
      });
      const { player, video, handle, decisions, requests, faults } = lab;
      player.initialize(video, manifest, true);
      const abandoned: { index: number; receivedBits: number }[] = [];
      player.on('fragmentLoadingAbandoned' as 'fragmentLoadingCompleted', ({ request }) => {
        abandoned.push({ index: request.index, receivedBits: (request.bytesLoaded || 0) * 8 });
      });
      let loaded = -1;
      player.on('fragmentLoadingCompleted', ({ request }) => {
        if (request.type === 'MediaSegment') loaded = request.index;
      });
      await window.lab.until('the last segment', () => loaded === segments - 1);
      const levelOf = (representationId: string) => Number(representationId.split('-')[1]);
      const { wastedBits, requestedBits } = handle.state;
      return {
        faults,
        requests: requests.map(({ index, representationId }) => ({ index, level: levelOf(representationId) })),
        events: decisions.map(({ kind, state, inFlight, representationId }) => ({
          kind,
          index: state.segmentIndex,
          level: levelOf(representationId),
          nowSeconds: state.nowSeconds,
          receivedBits: inFlight?.receivedBits,
        })),
        abandoned,
        wastedBits,
        requestedBits,
      };
    },
    { manifest, options, segments },
  );
}

/** What holds whenever MPC-L gives downloads up. */
function expectOrderly(
  { faults, requests, events, abandoned, wastedBits, requestedBits }: Watched,
  segments = 12,
): void {
  expect(faults).toEqual([]);
  const given = events.filter(({ kind }) => kind === 'abandon');
  expect(given.length).toBeGreaterThan(0);
  expect(abandoned.map(({ index }) => index)).toEqual(given.map(({ index }) => index));
  // Waste is counted.
  expect(wastedBits).toBe(abandoned.reduce((sum, { receivedBits }) => sum + receivedBits, 0));
  expect(requestedBits).toBeGreaterThan(wastedBits);
  // Every segment in the end, each time lower, not too often.
  expect([...new Set(requests.map(({ index }) => index))]).toEqual(Array.from({ length: segments }, (_, i) => i));
  for (const { index } of given) {
    const levels = requests.filter((request) => request.index === index).map(({ level }) => level);
    expect(levels.length).toBeLessThanOrEqual(1 + 4);
    expect(levels).toEqual([...new Set(levels)].sort((a, b) => b - a));
    // The next segment does not jump back to what was given up.
    const next = requests.find((request) => request.index === index + 1);
    if (next !== undefined) expect(next.level).toBeLessThan(Math.max(1, ...levels));
  }
}

/** Where the host itself stands still, a download may be given up at any other time too. */
function givenUpWithin({ events }: Watched, fromSeconds: number, untilSeconds: number): Watched['events'] {
  return events.filter(
    ({ kind, nowSeconds }) => kind === 'abandon' && nowSeconds > fromSeconds && nowSeconds < untilSeconds,
  );
}

test('mpc-l leaves a download on a dead link, where nothing arrives and nothing is told', async ({
  labPage,
  stream,
}) => {
  const seen = await watch(
    labPage,
    `${stream({ ladderBps: LADDER_BPS, segmentSeconds: 2, segmentCount: 12, link: failing(0) })}manifest.mpd`,
  );
  expectOrderly(seen);
  // While the link was dead, not when it came back.
  expect(givenUpWithin(seen, 9, 13.5)).not.toEqual([]);
});

test('mpc-l leaves a dead link in a hidden tab too, where timers fire once a second', async ({ labPage, stream }) => {
  // What Chromium does to the timers of a hidden page; progress events and dash.js's requests go on as they are.
  await labPage.addInitScript(() => {
    const { setInterval, setTimeout } = window;
    type Start = (handler: () => void, ms?: number) => unknown;
    const slow =
      (start: Start): Start =>
      (handler, ms) =>
        start(handler, Math.max(1000, ms ?? 0));
    Object.assign(window, { setInterval: slow(setInterval), setTimeout: slow(setTimeout) });
  });
  await labPage.reload();
  // The link is dead for one download of the higher representation, from its first byte on, however long it is waited for:
  // one that is nearly there when a link dies is rightly kept.
  let held: number | undefined;
  await labPage.route('**/video-1/*.m4s', async (route) => {
    const index = Number(/(\d+)\.m4s$/.exec(route.request().url())![1]) - 1;
    if (held !== undefined || index < 4) await route.continue();
    else held = index;
  });
  // Everything takes longer here: no more segments than that needs.
  const segments = 9;
  const seen = await watch(
    labPage,
    `${stream({ ladderBps: [300e3, 3e6], segmentSeconds: 2, segmentCount: segments, link: [[60, 10e6]] })}manifest.mpd`,
    { segments },
  );
  expectOrderly(seen, segments);
  const [first] = seen.events.filter(({ kind, index }) => kind === 'abandon' && index === held);
  expect(first).toMatchObject({ level: 0, receivedBits: 0 });
});

test('mpc-l gives nothing up where that is switched off', async ({ labPage, stream }) => {
  const seen = await watch(
    labPage,
    `${stream({ ladderBps: LADDER_BPS, segmentSeconds: 2, segmentCount: 12, link: failing(0) })}manifest.mpd`,
    { options: { abandon: false } },
  );
  expect(seen).toMatchObject({ faults: [], abandoned: [], wastedBits: 0 });
  expect(seen.requests).toHaveLength(12);
});
