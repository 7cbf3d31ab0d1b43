/** A page with all features stores and sends what docs/privacy.md lists, and nothing else. The next session uses it. */

import { startCollector } from '../../trial/collector/collector.ts';
import { expect, test } from './playback-test.ts';
import { openViewers } from './viewers.ts';

/** These entries are dash.js's. */
const PLAYER_KEYS = /^dashjs_/;

for (const storage of [true, false]) {
  test(`with storage: ${storage}, a page keeps and sends what is listed`, async ({ labPage, stream }, info) => {
    test.setTimeout(60_000);
    const collector = await startCollector({ port: 0, directory: info.outputPath('reports'), maxBytes: 1e6 });
    const page = await openViewers(labPage);
    const folder = stream({ segmentCount: 12, link: { 60: 2e6 } });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
    // The collector is closed, so that a report waits for the next visit.
    const dead = `${collector.url}/v1/reports`;
    await collector.close();
    const left = await page.evaluate(
      async ([folder, report, storage]) => {
        const trial = { name: 'privacy', arms: { a: {}, b: {} }, storage };
        const arm = window.LeoAbrTrial.assignArm(trial);
        const sizes = `${folder}sizes.json`;
        const options = { storage, sizes, prior: true, pageLoad: true, cmcd: true, debug: () => {} };
        const observe = ({ player, handle }: { player: never; handle: never }) => {
          const given = { arm, leoAbr: handle, storage, report: { url: report, observations: true }, logger: null };
          const reports = window.LeoAbrTrial.reportSessions(player, given);
          addEventListener('over', () => reports.stop());
        };
        const manifest = `${folder}manifest.mpd`;
        const lab = window.lab.start({ manifest, options, before: observe as never });
        await window.lab.until('ten seconds', ({ video }) => video.currentTime > 10, lab);
        dispatchEvent(new Event('over'));
        lab.handle.detach();
        const next = window.lab.start({ manifest, options: { storage } });
        await window.lab.until('a decision of the next session', ({ decisions }) => decisions.length > 0, next);
        next.handle.detach();
        // The report needs a moment to fail.
        await new Promise((resolve) => setTimeout(resolve, 500));
        return {
          source: next.decisions[0]!.decision.forecastSource,
          local: Object.keys(localStorage),
          session: Object.keys(sessionStorage),
          databases: (await indexedDB.databases()).map(({ name }) => name),
          caches: await caches.keys(),
          cookie: document.cookie,
        };
      },
      [folder, dead, storage] as const,
    );
    const { source, local, ...elsewhere } = left;
    const kept = local.filter((key) => !PLAYER_KEYS.test(key)).sort();
    expect(kept).toEqual(storage ? ['leo-abr', 'leo-abr-reports', 'leo-abr-viewer'] : []);
    expect(source).toBe(storage ? 'prior' : undefined);
    expect(elsewhere).toEqual({ session: [], databases: [], caches: [], cookie: '' });
    expect(await page.context().cookies()).toEqual([]);
    const others = requests.filter(
      (one) => !/\/(manifest\.mpd|(audio|video-\d)\/(init\.mp4|\d+\.m4s))(\?.*)?$/.test(one),
    );
    expect(new Set(others)).toEqual(new Set([`GET ${folder}sizes.json`, `POST ${dead}`]));
  });
}
