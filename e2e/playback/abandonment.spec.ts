/** Downloads that are given up, also while nothing at all arrives. */

import { expect, test } from './playback-test.ts';

/** An outage of 4 s, 2 s into the session. */
const OUTAGE: [number, number][] = [
  [2, 8e6],
  [6, 0],
  [60, 8e6],
];

for (const way of ['from a timer', 'by a rule of dash.js where the direct way is missing'] as const) {
  test(`a download that stalls is repeated at a lower bitrate, ${way}`, async ({ labPage, stream }) => {
    const seen = await labPage.evaluate(
      async ({ manifest, way }) => {
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
        if (way !== 'from a timer') {
          // The rule's context without the semi-public method.
          const rule = player.getABRCustomRules().find(({ rulename }) => rulename === 'LeoAbrRule');
          const make = rule.rule;
          rule.rule = (context: unknown) => ({
            create() {
              const instance = make(context).create();
              const { getSwitchRequest } = instance;
              instance.getSwitchRequest = (rules: { getAbrController(): object }) =>
                getSwitchRequest({
                  ...rules,
                  getAbrController: () => ({ ...rules.getAbrController(), setPlaybackQuality: undefined }),
                });
              return instance;
            },
          });
        }
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
        way,
      },
    );
    expect(seen.faults).toEqual([]);
    const given = seen.events.filter(({ kind }) => kind === 'abandon');
    expect(given.length).toBeGreaterThan(0);
    const { index } = given[0]!;
    // The same segment again, lower, and each segment in the end.
    const repeated = seen.requests.filter((request) => request.index === index);
    expect(repeated.map(({ representationId }) => representationId)).toEqual(['video-1', 'video-0']);
    expect(new Set(seen.requests.map((request) => request.index))).toEqual(new Set([0, 1, 2, 3]));
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
