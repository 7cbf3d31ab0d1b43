/** The plugin's decisions, dash.js's requests and the pictures on screen agree. */

import {
  decidedAgain,
  expect,
  expectCmcd,
  highestRung,
  LADDER_BPS,
  PICTURE_WIDTHS,
  recordCmcd,
  test,
} from './playback-test.ts';

for (const cmcd of [true, false]) {
  test(`CMCD in the requests, with the option ${cmcd}`, async ({ labPage, stream }) => {
    const values = recordCmcd(labPage);
    const faults = await labPage.evaluate(
      async ([manifest, cmcd]) => {
        const { video, faults } = window.lab.start({ manifest, options: { cmcd } });
        await window.lab.until('the end', () => video.ended);
        return faults.length;
      },
      [`${stream()}manifest.mpd`, cmcd] as const,
    );
    expect(faults).toBe(0);
    if (cmcd) expectCmcd(values);
    else expect(new Set(values)).toEqual(new Set([null]));
  });
}

test('plays to the end with the decided representations; the pictures on screen prove it', async ({
  labPage,
  stream,
}) => {
  const seen = await labPage.evaluate(
    async ({ manifest }) => {
      // Each representation twice, from the lowest up, independent of measurements.
      const controller = {
        name: 'up',
        decide: ({ segmentIndex }: { segmentIndex: number }) => ({
          representation: Math.floor(segmentIndex / 2),
          controller: 'up',
          reason: 'its turn',
        }),
      };
      const { player, video, handle, decisions, faults, requests, widths } = window.lab.start({
        manifest,
        options: { controller },
      });
      await window.lab.until('the end', () => video.ended);
      return {
        decisions: decisions.map(({ kind, state, representationId, decision }) => ({
          kind,
          index: state.segmentIndex,
          representationId,
          bitrateBps: state.ladderBps[decision.representation],
          remaining: state.segmentsRemaining,
          ladderBps: state.ladderBps,
          rows: state.upcomingSizesBits.length,
          bufferLevelSeconds: state.bufferLevelSeconds,
          nowSeconds: state.nowSeconds,
          previousBitrateBps: state.previousBitrateBps,
          downloads: state.downloads,
        })),
        requests,
        widths,
        faults,
        state: handle.state.status,
        version: player.getVersion(),
      };
    },
    { manifest: `${stream({ segmentCount: 8 })}manifest.mpd` },
  );
  expect(seen.faults).toEqual([]);
  expect(seen.state).toBe('attached');
  const { decisions, requests } = seen;
  expect(decisions).toHaveLength(8);
  expect(decisions.map(({ index, representationId }) => ({ index, representationId }))).toEqual(
    requests.map(({ index, representationId }) => ({ index, representationId })),
  );
  expect(decisions.map(({ remaining }) => remaining)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  expect(decisions.map(({ rows }) => rows)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  expect(decisions[0]).toMatchObject({ ladderBps: LADDER_BPS, nowSeconds: 0, bufferLevelSeconds: 0, downloads: [] });
  decisions.slice(1).forEach((decision, i) => {
    expect(decision.previousBitrateBps).toBe(decisions[i]!.bitrateBps);
    expect(decision.downloads).toHaveLength(i + 1);
  });
  for (const { abandoned, receivedBits, sizeBits, downloadSeconds, latencySeconds } of decisions[7]!.downloads) {
    expect(abandoned).toBe(false);
    expect(receivedBits).toBe(sizeBits);
    // The link's rate, less the 20 ms before the first byte and the machine's own delay.
    expect(receivedBits / downloadSeconds).toBeLessThan(8e6);
    if (latencySeconds !== undefined) expect(latencySeconds).toBeGreaterThan(0.015);
  }
  expect(seen.widths).toEqual(PICTURE_WIDTHS);
});

test('two players on one page decide independently, and one can be detached', async ({ labPage, stream }) => {
  const slow = stream({ link: [[60, 1.6e6]], segmentCount: 6 });
  const seen = await labPage.evaluate(
    async ([quick, slow]) => {
      const a = window.lab.start({ manifest: quick! });
      const b = window.lab.start({ manifest: slow! });
      await window.lab.until('both end', () => a.video.ended && b.video.ended);
      a.handle.detach();
      return [a, b].map(({ decisions, requests, faults, handle }) => ({
        decided: decisions.map(({ representationId }) => representationId),
        requested: requests.map(({ representationId }) => representationId),
        measuredBps: decisions.at(-1)!.state.downloads.map((d) => d.receivedBits / d.downloadSeconds),
        status: handle.state.status,
        faults,
      }));
    },
    [`${stream({ segmentCount: 6 })}manifest.mpd`, `${slow}manifest.mpd`],
  );
  const [a, b] = seen;
  for (const one of seen) expect(one).toMatchObject({ faults: [], decided: one.requested });
  expect(Math.max(...a!.measuredBps)).toBeGreaterThan(2e6);
  expect(Math.max(...b!.measuredBps)).toBeLessThan(1.7e6);
  expect(highestRung(b!.decided)).toBeLessThanOrEqual(1);
  expect(seen.map(({ status }) => status)).toEqual(['detached', 'attached']);
});

test('a ladder of one representation plays', async ({ labPage, stream }) => {
  const seen = await labPage.evaluate(
    async (manifest) => {
      const { video, decisions, faults } = window.lab.start({ manifest });
      await window.lab.until('the end', () => video.ended);
      return { faults, decided: decisions.map(({ decision }) => decision.representation) };
    },
    `${stream({ ladderBps: [1e6], segmentCount: 3 })}manifest.mpd`,
  );
  expect(seen).toEqual({ faults: [], decided: [0, 0, 0] });
});

test('MPC-L decides the same again in the logged states', async ({ labPage, stream }) => {
  const decisions = await labPage.evaluate(
    async (manifest) => {
      const { video, decisions } = window.lab.start({ manifest });
      await window.lab.until('the end', () => video.ended);
      return decisions.map(({ state, forecast, decision }) => ({ state, forecast, decision }));
    },
    `${stream({ segmentCount: 8, sizeSpread: 0.2 })}manifest.mpd`,
  );
  expect(decidedAgain(decisions, 'mpc-l:no-abandon')).toEqual(decisions.map(({ decision }) => decision.representation));
});
