/** With dash.js, hls.js and Shaka Player, decisions, requests and pictures on screen agree. */

import type { Controller } from '../../abr/controller.ts';
import { bitrateWeights } from '../../abr/qoe/qoe.ts';
import { createController } from '../../replay/algorithms.ts';
import {
  CORE,
  CORE_WITH_FAULTS,
  cmcdOf,
  describePlayers,
  expect,
  FAULTS,
  isOlder,
  LADDER_BPS,
  type LabPlayerName,
  PICTURE_WIDTHS,
  test,
} from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/**
 * Each player, and its settings for an abandonment. By default Shaka prefetches the segment that is due, and a switch
 * discards it. Without prefetching, Shaka's own rule must abort.
 */
const prefetches = [1, 0].map((segmentPrefetchLimit) => ({ streaming: { segmentPrefetchLimit } }));
const PLAYERS: [LabPlayerName, object[]][] = [
  ['dash', [{}]],
  ['hls.js', [{}]],
  ['hls.js 1.6', [{}]],
  ['Shaka 5', prefetches],
  ['Shaka 4', prefetches],
];
const OUTAGE_UNTIL_SECONDS = 6;
const SEGMENTS = [0, 1, 2, 3, 4, 5, 6, 7];
const SLOW_BPS = 4e6;

const AS_SCRIPTS: [LabPlayerName][] = [['dash as ES2015'], ['hls.js as ES2015'], ['Shaka as ES2015']];
describePlayers(AS_SCRIPTS, () => {
  test('the script for televisions adapts', CORE, async ({ onStream }) => {
    const seen = await onStream({ link: { 60: 16e6 } }, async (manifest) => {
      const lab = await window.lab.play({ manifest });
      await window.lab.until('the end', ({ video }) => video.ended, lab);
      const { widths, decisions } = lab;
      return { widths, sources: decisions.map(({ decision }) => decision.forecastSource) };
    });
    expect(seen.sources).toContain('built-in');
    expect(seen.widths.at(-1)).toBeGreaterThan(PICTURE_WIDTHS[0]!);
  });
});

describePlayers(PLAYERS, (playerName, abandonmentSettings) => {
  const engines = isOlder(playerName) ? {} : CORE;

  const tags = isOlder(playerName) ? FAULTS : CORE_WITH_FAULTS;
  test('a controller that goes up, one that fails, and MPC-L with CMCD', tags, async ({ labPage, stream }) => {
    const slow = stream({ link: { 60: SLOW_BPS } });
    const quick = stream({ link: { 60: 4 * SLOW_BPS }, sizeSpread: 0.2 });
    const seen = await labPage.evaluate(
      async (manifests) => {
        // Each representation twice, from the lowest up, independent of measurements.
        const up = ({ segmentIndex }: { segmentIndex: number }) => ({
          representation: Math.floor(segmentIndex / 2),
          controller: 'up',
          reason: 'its turn',
        });
        const broken = (): never => {
          throw new Error('no idea');
        };
        const options = [
          { controller: { name: 'up', decide: up } },
          { controller: { name: 'broken', decide: broken } },
          { cmcd: true, abandon: false, qoe: 'linear' as const },
        ];
        const labs = await Promise.all(
          options.map((one, i) => window.lab.play({ manifest: manifests[i]!, options: one })),
        );
        for (const lab of labs) await window.lab.until('the end', ({ video }) => video.ended, lab);
        labs[2]!.handle.detach();
        return labs.map(({ decisions, requests, faults, errors, widths, handle }) => ({
          ...{ decisions, widths, errors, status: handle.state.status },
          requests: requests.map(({ index, representationId }) => ({ index, representationId })),
          faults: faults.map(({ code }) => code),
        }));
      },
      [slow, stream({ link: { 60: 60e6 } }), quick].map((folder) => `${folder}manifest.mpd`),
    );
    const [up, broken, mpcL] = seen as [(typeof seen)[0], (typeof seen)[0], (typeof seen)[0]];
    for (const { requests } of seen) expect([...new Set(requests.map(({ index }) => index))]).toEqual(SEGMENTS);
    expect(broken).toMatchObject({ decisions: [], faults: ['controller-failed'] });
    // dash.js's throughput rule decides: it begins at 1 Mbit/s and switches up.
    if (playerName === 'dash') expect(broken.requests.at(-1)!.representationId).toMatch(/video-[23]/);
    const measured = [up, mpcL].map(({ decisions: all, ...one }) => {
      expect(one).toMatchObject({ faults: [], errors: [] });
      // If a segment has two decisions, the second holds. hls.js gets two decisions on the first segment.
      const decisions = all.filter(({ state }, i) => state.segmentIndex !== all[i + 1]?.state.segmentIndex);
      const states = decisions.map(({ state }) => state);
      const decided = decisions.map(({ state, representationId }) => ({ index: state.segmentIndex, representationId }));
      expect(decided).toEqual(one.requests);
      for (const [i, state] of states.entries()) {
        expect(state.segmentsRemaining).toBe(8 - i);
        // If the host pauses, a segment may arrive all at once: then it measures nothing.
        expect([i, i - 1]).toContain(state.downloads.length);
        expect(state.upcomingSizesBits).toHaveLength(8 - i);
        const before = decisions[i - 1];
        expect(state.previousBitrateBps).toBe(before?.state.ladderBps[before.decision.representation]);
      }
      expect(states[0]).toMatchObject({ segmentSeconds: 1, bufferLevelSeconds: 0, nowSeconds: 0 });
      // hls.js names mean bitrates.
      expect(states[0]!.ladderBps.map((bps) => Math.round(bps / 1e3) * 1e3)).toEqual(LADDER_BPS);
      return states[7]!.downloads.map(({ abandoned, receivedBits, sizeBits, downloadSeconds, latencySeconds = 1 }) => {
        expect([abandoned, receivedBits]).toEqual([false, sizeBits]);
        expect(latencySeconds).toBeGreaterThan(0.005);
        return receivedBits / downloadSeconds;
      });
    });
    const most = measured.map((bps) => Math.max(...bps));
    expect(most[0]).toBeLessThan(1.025 * SLOW_BPS);
    expect(most[1]).toBeGreaterThan(SLOW_BPS);
    expect(up.widths).toEqual(PICTURE_WIDTHS);
    expect(seen.map(({ status }) => status)).toEqual(['attached', 'attached', 'detached']);

    const chosen = mpcL.decisions.map(({ decision }) => decision.representation);
    const again = createController('mpc-l:no-abandon');
    const decidedAgain = mpcL.decisions.map(({ state, forecast }) =>
      again.decide({ ...state, weights: bitrateWeights('linear', state.ladderBps) }, forecast),
    );
    expect(decidedAgain.map(({ representation }) => representation)).toEqual(chosen);
    expect(Math.max(...chosen)).toBeGreaterThan(0);
    expect(mpcL.widths.at(-1)).toBe(PICTURE_WIDTHS[chosen.at(-1)!]);
    expect(mpcL.decisions.map(({ decision }) => decision.forecastSource)).toContain('built-in');
    const cmcd = await cmcdOf(labPage, quick);
    expect(cmcd.length).toBeGreaterThan(0);
    for (const value of cmcd) {
      const keys = value!.match(/[a-z][\w.-]*(=("[^"]*"|[\w.-]+))?/g);
      expect(keys!.join(',')).toBe(value);
      expect(value).toMatch(/^(.*,)?br=\d+,(.*,)?d=\d+,(.*,)?sid="/);
    }
    expect(cmcd.at(-1)).toMatch(/,leo\.abr-cap=[1-9]\d+,leo\.abr-src="built-in",/);
    expect(cmcd.at(-1)!.split(',')).toEqual(cmcd.at(-1)!.split(',').sort());
    expect(new Set(await cmcdOf(labPage, slow))).toEqual(new Set([null]));
  });

  test('gives a download up while nothing arrives, for the lowest bitrate', engines, async ({ labPage, stream }) => {
    const media = { segmentCount: 3, link: { 1: 8e6, [OUTAGE_UNTIL_SECONDS]: 0, 60: 8e6 } };
    const all = await labPage.evaluate(
      async (given) => {
        const to = (representation: number) => ({ representation, controller: 'own', reason: 'own' });
        const controller: Controller = {
          name: 'own',
          decide: () => to(3),
          reconsider: ({ nowSeconds }, { requestedAtSeconds, abandonments }) =>
            abandonments === 0 && nowSeconds - requestedAtSeconds > 1.5 ? to(0) : 'keep',
        };
        const play = async (one: (typeof given)[number]) => {
          const lab = await window.lab.play({ ...one, options: { controller } });
          await window.lab.until('the end', ({ video }) => video.ended, lab);
          const { decisions, requests } = lab;
          return { requests, downloads: decisions[decisions.length - 1]!.state.downloads };
        };
        return Promise.all(given.map(play));
      },
      abandonmentSettings.map((settings) => ({ manifest: `${stream(media)}manifest.mpd`, settings })),
    );
    for (const [i, seen] of all.entries()) {
      const given = seen.downloads.find(({ abandoned }) => abandoned)!;
      expect(given.requestedAtSeconds + given.downloadSeconds).toBeLessThan(OUTAGE_UNTIL_SECONDS);
      const rungs = seen.requests.filter(({ index }) => index === given.segmentIndex).map(({ rung }) => rung);
      expect(rungs, JSON.stringify(abandonmentSettings[i])).toEqual([3, 0]);
    }
  });
});
