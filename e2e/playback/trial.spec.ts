/**
 * Trials with real players: viewers in arms, and their reports in a collector. trial/command/meter.test.ts compares what a
 * trial and the benchmark measure.
 */

import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { type RunningCollector, startCollector } from '../../trial/collector/collector.ts';
import { type SessionReport, validSessionReport } from '../../trial/session-report.ts';
import { test as base, describePlayers, expect, type LabPlayerName } from './playback-test.ts';
import { openViewers, reportsIn, TRIAL_SCENARIO } from './viewers.ts';

const VIEWERS = 4;
/** The configuration is on another origin. */
const CONFIG = 'https://cdn.example/trial.json';

const test = base.extend<{ collector: RunningCollector & { reports(count: number): Promise<SessionReport[]> } }>({
  collector: async ({}, use, info) => {
    const directory = info.outputPath('reports');
    const collector = await startCollector({ port: 0, directory, maxBytes: 1e7 });
    const stored = () => reportsIn(directory).map((line) => validSessionReport(JSON.parse(line)));
    const reports = async (count: number) => {
      await expect.poll(() => stored().length, { timeout: 20_000 }).toBe(count);
      return stored();
    };
    await use(Object.assign(collector, { reports }));
    await collector.close();
  },
});

const PLAYERS: [LabPlayerName, SessionReport['player']][] = [
  ['dash', 'dash.js'],
  ['hls.js', 'hls.js'],
  ['Shaka 5', 'shaka'],
  ['hls.js 1.6', 'hls.js'],
  ['Shaka 4', 'shaka'],
];

test.describe.configure({ mode: 'parallel' });

describePlayers(PLAYERS, (_, reported) => {
  test('viewers in both arms report at the end or as the page goes', async ({ labPage, origin, stream, collector }) => {
    test.setTimeout(120_000);
    const page = await openViewers(labPage);
    const report = `${collector.url}/v1/reports`;
    const shares = { player: 0.5, 'leo-abr': 0.5 };
    const json = { schema: 1, enabled: true, trial: 'e2e', shares };
    await page.route(CONFIG, (route) => route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } }));
    const viewers = synthesizeShippedTraces()
      .slice(0, VIEWERS)
      .map((trace, i) => {
        const manifest = origin.manifestUrl(origin.createSession({ trace, scenario: TRIAL_SCENARIO }));
        return { manifest, trial: { config: CONFIG, configSeconds: 10, key: `viewer ${i}` }, report };
      });
    const arms = await page.evaluate((all) => Promise.all(all.map((one) => window.view(one))), viewers);
    await page.evaluate(() => window.stopAll());
    const reports = await collector.reports(VIEWERS);
    expect(reports.map(({ arm }) => arm).sort()).toEqual(arms.sort());
    expect(new Set(arms)).toEqual(new Set(['leo-abr', 'player']));
    for (const one of reports) {
      expect(one).toMatchObject({
        ...{ trial: 'e2e', armShare: 0.5, unit: 'viewer', player: reported, browser: 'chromium', live: false },
        ...{ controller: one.arm === 'player' ? 'player' : 'mpc-l', started: true, ended: 'end' },
      });
      expect(one.watchedSeconds).toBeGreaterThan(3);
      expect(one.watchedSeconds).toBeLessThan(5.5);
      expect(one.topBitrateBps! / 5e6).toBeCloseTo(1, 1);
      expect(one.requestedBits).toBeGreaterThan(0.8e6);
    }

    const manifest = `${stream({ segmentCount: 60 })}manifest.mpd`;
    await page.evaluate((one) => void window.view(one), { manifest, trial: { name: 'e2e', share: 0 }, report });
    await page.waitForFunction(() => [...document.querySelectorAll('video')].at(-1)!.currentTime > 2);
    await page.goto('about:blank');
    const last = (await collector.reports(VIEWERS + 1)).at(-1)!;
    expect(last).toMatchObject({ ended: 'page', started: true, controller: 'player', arm: 'player' });
    expect(last.watchedSeconds).toBeGreaterThan(1.5);
    expect(last.meanBitrateBps).toBeGreaterThan(2e5);
  });
});
