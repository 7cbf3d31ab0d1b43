/** Abandoned downloads, also while nothing arrives. */

import type { Page } from '@playwright/test';
import { expect, expectEarlyAbandonment, FAILING_STREAM, test } from './playback-test.ts';

/** An outage of 4 s, 2 s into the session. */
const OUTAGE: [number, number][] = [
  [2, 8e6],
  [6, 0],
  [60, 8e6],
];

for (const hasMethod of [true, false]) {
  const what = hasMethod
    ? 'a stalling download is requested again at a lower bitrate'
    : 'a dash.js without the method to abandon causes a fault, and a stalling download goes on';
  test(what, async ({ labPage, stream }) => {
    await installRemoveMethod(labPage);
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
        if (!hasMethod) window.removeMethod(player);
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
    const abandonments = seen.events.filter(({ kind }) => kind === 'abandon');
    expect(abandonments.length).toBeGreaterThan(0);
    const { index } = abandonments[0]!;
    // The same segment is requested again at a lower bitrate.
    const repeated = seen.requests.filter((request) => request.index === index);
    expect(repeated.map(({ representationId }) => representationId)).toEqual(['video-1', 'video-0']);
    expect(seen.abandoned.length).toBe(abandonments.length);
    for (const { receivedBits, sizeBits } of seen.abandoned) expect(receivedBits).toBeLessThan(sizeBits);
  });
}

test('mpc-d:abandon abandons a download in an outage', async ({ labPage, stream }) => {
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
    /** Hides dash.js's `setPlaybackQuality` from the plugin's rule. */
    removeMethod(player: { getABRCustomRules(): { rulename: string; rule: unknown }[] }): void;
  }
}

async function installRemoveMethod(page: Page): Promise<void> {
  await page.evaluate(() => {
    type Rules = { getAbrController(): object };
    type Make = (context: unknown) => { create(): { getSwitchRequest(rules: Rules): unknown } };
    window.removeMethod = (player) => {
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

/** A session of MPC-L over a failing link. */
interface WatchedSession {
  faults: unknown[];
  requests: { index: number; rung: number }[];
  events: { kind: string; index: number; rung: number; nowSeconds: number; receivedBits: number | undefined }[];
  /** As dash.js reports them. */
  abandoned: { index: number; receivedBits: number }[];
  wastedBits: number;
  requestedBits: number;
}

const LADDER_BPS = [300e3, 1e6, 3e6, 6e6];
/** 10 Mbit/s, but `bps` between the two seconds. */
const failing = (bps: number, fromSeconds = 9, untilSeconds = 14): [number, number][] => [
  [fromSeconds, 10e6],
  [untilSeconds, bps],
  [60, 10e6],
];

/** Plays with segments of 2 s and a buffer of 6 s. */
async function playOver(page: Page, manifest: string, { options = {}, segments = 12 } = {}): Promise<WatchedSession> {
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
      const rungOf = (representationId: string) => Number(representationId.split('-')[1]);
      const { wastedBits, requestedBits } = handle.state;
      return {
        faults,
        requests: requests.map(({ index, representationId }) => ({ index, rung: rungOf(representationId) })),
        events: decisions.map(({ kind, state, inFlight, representationId }) => ({
          kind,
          index: state.segmentIndex,
          rung: rungOf(representationId),
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

/** The invariants of MPC-L's abandonments. */
function expectValidAbandonments(
  { faults, requests, events, abandoned, wastedBits, requestedBits }: WatchedSession,
  segments = 12,
): void {
  expect(faults).toEqual([]);
  const abandonments = events.filter(({ kind }) => kind === 'abandon');
  expect(abandonments.length).toBeGreaterThan(0);
  expect(abandoned.map(({ index }) => index)).toEqual(abandonments.map(({ index }) => index));
  expect(wastedBits).toBe(abandoned.reduce((sum, { receivedBits }) => sum + receivedBits, 0));
  expect(requestedBits).toBeGreaterThan(wastedBits);
  // Every segment is requested; each new request for it is lower; at most four abandonments.
  expect([...new Set(requests.map(({ index }) => index))]).toEqual(Array.from({ length: segments }, (_, i) => i));
  for (const { index } of abandonments) {
    const rungs = requests.filter((request) => request.index === index).map(({ rung }) => rung);
    expect(rungs.length).toBeLessThanOrEqual(1 + 4);
    expect(rungs).toEqual([...new Set(rungs)].sort((a, b) => b - a));
    // The next segment does not return to the abandoned bitrate.
    const next = requests.find((request) => request.index === index + 1);
    if (next !== undefined) expect(next.rung).toBeLessThan(Math.max(1, ...rungs));
  }
}

/** The abandonments within a time; a busy host may cause others. */
function abandonedWithin(
  { events }: WatchedSession,
  fromSeconds: number,
  untilSeconds: number,
): WatchedSession['events'] {
  return events.filter(
    ({ kind, nowSeconds }) => kind === 'abandon' && nowSeconds > fromSeconds && nowSeconds < untilSeconds,
  );
}

test('mpc-l abandons a download in an outage, in which there are no events', async ({ labPage, stream }) => {
  const seen = await playOver(
    labPage,
    `${stream({ ladderBps: LADDER_BPS, segmentSeconds: 2, segmentCount: 12, link: failing(0) })}manifest.mpd`,
  );
  expectValidAbandonments(seen);
  // During the outage, not after it.
  expect(abandonedWithin(seen, 9, 13.5)).not.toEqual([]);
});

test('mpc-l abandons a download soon after the last byte', async ({ labPage, stream }) => {
  await expectEarlyAbandonment(async () => {
    await labPage.reload();
    return labPage.evaluate(
      (manifest) => {
        const lab = window.lab.start({ manifest, options: { abandon: true } });
        const sent = () =>
          lab.requests.map(({ index, representationId }) => ({ index, rung: Number(representationId.at(-1)) }));
        return window.lab.untilAgain(lab, sent);
      },
      `${stream(FAILING_STREAM)}manifest.mpd`,
    );
  });
});

test('mpc-l abandons a download in an outage in a hidden tab too, where timers fire once a second', async ({
  labPage,
  stream,
}) => {
  // Chromium throttles timers of a hidden page like this, but not progress events and requests.
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
  // One download of the higher representation gets no byte at all: one that is nearly complete at an outage is rightly
  // kept.
  let held: number | undefined;
  await labPage.route('**/video-1/*.m4s', async (route) => {
    const index = Number(/(\d+)\.m4s$/.exec(route.request().url())![1]) - 1;
    if (held !== undefined || index < 4) await route.continue();
    else held = index;
  });
  // With throttled timers everything takes longer: few segments.
  const segments = 9;
  const seen = await playOver(
    labPage,
    `${stream({ ladderBps: [300e3, 3e6], segmentSeconds: 2, segmentCount: segments, link: [[60, 10e6]] })}manifest.mpd`,
    { segments },
  );
  expectValidAbandonments(seen, segments);
  const [first] = seen.events.filter(({ kind, index }) => kind === 'abandon' && index === held);
  expect(first).toMatchObject({ rung: 0, receivedBits: 0 });
});

test('mpc-l abandons nothing with abandon: false', async ({ labPage, stream }) => {
  const seen = await playOver(
    labPage,
    `${stream({ ladderBps: LADDER_BPS, segmentSeconds: 2, segmentCount: 12, link: failing(0) })}manifest.mpd`,
    { options: { abandon: false } },
  );
  expect(seen).toMatchObject({ faults: [], abandoned: [], wastedBits: 0 });
  expect(seen.requests).toHaveLength(12);
});
