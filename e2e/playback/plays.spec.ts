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

test('two players on one page decide independently, one with CMCD; MPC-L decides the same again in the logged states', async ({
  labPage,
  stream,
}) => {
  const [quick, slow] = [
    stream({ segmentCount: 8, sizeSpread: 0.2 }),
    stream({ link: [[60, 1.6e6]], segmentCount: 6 }),
  ] as const;
  const [cmcd, without] = [recordCmcd(labPage, quick), recordCmcd(labPage, slow)];
  const seen = await labPage.evaluate(
    async ([quick, slow]) => {
      const a = window.lab.start({ manifest: `${quick}manifest.mpd`, options: { cmcd: true } });
      const b = window.lab.start({ manifest: `${slow}manifest.mpd` });
      await window.lab.until('both end', () => a.video.ended && b.video.ended);
      a.handle.detach();
      return [a, b].map(({ decisions, requests, faults, handle }) => ({
        decided: decisions.map(({ representationId }) => representationId),
        requested: requests.map(({ representationId }) => representationId),
        measuredBps: decisions.at(-1)!.state.downloads.map((d) => d.receivedBits / d.downloadSeconds),
        events: decisions.map(({ state, forecast, decision }) => ({ state, forecast, decision })),
        status: handle.state.status,
        faults,
      }));
    },
    [quick, slow] as const,
  );
  const [a, b] = seen;
  for (const one of seen) expect(one).toMatchObject({ faults: [], decided: one.requested });
  expect(Math.max(...a!.measuredBps)).toBeGreaterThan(2e6);
  expect(Math.max(...b!.measuredBps)).toBeLessThan(1.7e6);
  expect(highestRung(b!.decided)).toBeLessThanOrEqual(1);
  expect(seen.map(({ status }) => status)).toEqual(['detached', 'attached']);
  expectCmcd(cmcd);
  expect(new Set(without)).toEqual(new Set([null]));
  for (const { events } of seen) {
    expect(decidedAgain(events, 'mpc-l:no-abandon')).toEqual(events.map(({ decision }) => decision.representation));
  }
});
