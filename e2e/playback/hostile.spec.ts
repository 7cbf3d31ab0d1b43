/** Playback goes on in pages that forbid, freeze or coarsen what scripts use, and if clocks jump. */

import type { Browser, Page } from '@playwright/test';
import { type ClockFaults, expect, installClocks, LAB_HTML, type LabPlayer, test } from './playback-test.ts';

/** Without `blob:` for media, no player with Media Source Extensions plays. */
const POLICY = { 'content-security-policy': "default-src 'self'; media-src blob:" };
/** The page freezes prototypes after its scripts, because dash.js itself writes to prototypes while it loads. */
const FROZEN_HTML = `${LAB_HTML}<script>
  for (const name of Object.getOwnPropertyNames(window)) {
    const made = Object.getOwnPropertyDescriptor(window, name).value;
    if (typeof made === 'function' && made.prototype) Object.freeze(made.prototype);
  }
</script>`;

test.use({ files: { '/policy.html': ['text/html', LAB_HTML, POLICY], '/frozen.html': ['text/html', FROZEN_HTML] } });

/** Plays until playback is stable, disturbs the page, and plays to the end. */
async function expectPlayback(manifest: string, page: Page, disturb = async () => {}): Promise<void> {
  await page.evaluate(async (manifest) => {
    const settings = { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } };
    const { video, decisions } = window.lab.start({ manifest, settings, options: { abandon: true } });
    await window.lab.until('playback', () => decisions.length > 4 && video.currentTime > 2);
  }, manifest);
  await disturb();
  const seen = await page.evaluate(async () => {
    const { video, decisions, faults, handle } = window.lab.players[0]! as LabPlayer;
    const before = decisions.length;
    await window.lab.until('the end', () => video.ended);
    const states = decisions.slice(before).map(({ state, decision }) => ({
      nowSeconds: state.nowSeconds,
      rates: state.downloads.map(({ receivedBits, downloadSeconds }) => receivedBits / downloadSeconds),
      source: decision.forecastSource,
      stallSeconds: decision.candidates?.[1]?.expectedStallSeconds ?? Number.POSITIVE_INFINITY,
    }));
    return { states, session: handle.state.session, faults: faults.map(({ message }) => message) };
  });
  expect(seen).toMatchObject({ session: 1, faults: [] });
  expect(seen.states.length).toBeGreaterThan(2);
  const times = seen.states.map(({ nowSeconds }) => nowSeconds);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  for (const { rates } of seen.states) for (const rate of rates) expect(rate).toBeGreaterThanOrEqual(0);
  expect(seen.states.map(({ source }) => source)).toContain('built-in');
  // The plugin knows that the link carries the second bitrate. Few segments may be left, so that a switch does not pay.
  const stalls = seen.states.slice(-3).map(({ stallSeconds }) => stallSeconds);
  expect(Math.min(...stalls), JSON.stringify(seen.states)).toBeLessThan(0.5);
}

/** Opens a page in its own context, so that all cases of a test can play at the same time. */
async function openPage(browser: Browser, url: string, clocks?: Partial<ClockFaults>): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  if (clocks) await page.addInitScript(installClocks, clocks);
  await page.goto(url);
  return page;
}

test('pages that forbid, freeze or coarsen what scripts use', async ({ browser, origin, stream }) => {
  const cases: [what: string, path: string, clocks?: Partial<ClockFaults>][] = [
    ['a Content-Security-Policy of default-src self', 'policy.html'],
    ['frozen prototypes', 'frozen.html'],
    ['a performance.now() in steps of 100 ms, as in Firefox that resists fingerprinting', '', { monotonicStepMs: 100 }],
  ];
  const play = async (path: string, clocks?: Partial<ClockFaults>) => {
    const page = await openPage(browser, `${origin.url}/${path}`, clocks);
    await expectPlayback(`${stream({ segmentCount: 10 })}manifest.mpd`, page);
    await page.context().close();
  };
  await Promise.all(cases.map(([what, path, clocks]) => test.step(what, () => play(path, clocks))));
});

/** Nothing runs in the page for a second. Its clocks then are later by these seconds, and requests may have failed. */
const SLEEPS: [what: string, wallSeconds: number, monotonicSeconds: number, isOffline: boolean][] = [
  ['ten minutes in the background, frozen', 600, 600, false],
  ['an hour of sleep in which the monotonic clock stands', 3600, 0, true],
  ['an hour of sleep in which the monotonic clock goes on', 3600, 3600, true],
  ['a clock set back by an hour', -3600, 0, false],
];
test('pages that sleep, and clocks that jump', async ({ browser, origin, stream }) => {
  const play = async (wallSeconds: number, monotonicSeconds: number, isOffline: boolean) => {
    const page = await openPage(browser, `${origin.url}/`, {});
    const context = page.context();
    const devtools = await context.newCDPSession(page);
    const freeze = (state: 'frozen' | 'active') => devtools.send('Page.setWebLifecycleState', { state });
    await expectPlayback(`${stream({ segmentCount: 11 })}manifest.mpd`, page, async () => {
      if (wallSeconds > 0) await freeze('frozen');
      if (isOffline) await context.setOffline(true);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await context.setOffline(false);
      await freeze('active');
      await page.evaluate((shift) => Object.assign(window.clocks, shift), {
        wallOffsetMs: wallSeconds * 1000,
        monotonicOffsetMs: monotonicSeconds * 1000,
      });
    });
    await context.close();
  };
  await Promise.all(SLEEPS.map(([what, ...sleep]) => test.step(what, () => play(...sleep))));
});
