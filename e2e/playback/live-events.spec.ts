/**
 * After an incident in a low-latency stream, playback goes on and latency returns to the target. Two players play side
 * by side, one with `mpc-l` and one with `mpc-d`.
 */

import type { Page } from '@playwright/test';
import {
  test as base,
  CORE_WITH_CATCH_UP,
  expect,
  installClocks,
  type LabPlayer,
  liveStream,
  type StreamOptions,
} from './playback-test.ts';

// With wide bounds, a late player catches up within seconds.
const LIVE = liveStream(2, { playbackRates: { min: 0.5, max: 1.5 } });
const STREAM: StreamOptions = {
  ...{ ladderBps: [1e6, 2.5e6, 5e6], segmentSeconds: 2, segmentCount: 60, link: { 600: 20e6 }, live: LIVE },
};

/** The incident, which begins when a viewer's latency is at the target. `i` counts the viewers of the page. */
type Act = (lab: LabPlayer, i: number) => Promise<void>;
type LiveIncident = 'late' | 'paused encoder' | 'decision' | 'periods' | 'seek' | 'pause';

/** Errors of a viewer's dash.js, and the number of decisions since the incident began. */
type ViewerSeen = { targetSeconds: number; errors: string[]; decisions: number };

declare global {
  interface Window {
    /** Plays the streams until each player is at its target, then through the incident until it is there again. */
    viewers(event: LiveIncident, manifests: readonly string[]): Promise<ViewerSeen[]>;
  }
}

const test = base.extend<{ two(options?: StreamOptions): string[] }>({
  /** Serves two streams; returns the URLs of their manifests. */
  // The origin's UTC is the device's, because dash.js 5.2.1 counts a difference twice in a seek.
  two: ({ stream }, use) =>
    use((options) => [1, 2].map(() => `${stream({ ...STREAM, startUtcMs: Date.now(), ...options })}manifest.mpd`)),
});

test.describe.configure({ mode: 'parallel' });

/** Runs in the page. */
function installLivePage(): void {
  /** Tolerance. After a pause of encoder, link or host, MPC-L expects outages and catches up by only 1 %. */
  const closeSeconds = (event: LiveIncident, i: number) => (i > 0 ? 0.1 : event === 'paused encoder' ? 0.6 : 0.4);
  const lateBySeconds = ({ player }: LabPlayer) => player.getCurrentLiveLatency() - player.getTargetLiveDelay();
  /** Waits until a second of media has been played and latency is close to the target. */
  const atTarget = (lab: LabPlayer, closeSeconds: number) => {
    const { video } = lab;
    let at = video.currentTime;
    let playedSeconds = 0;
    const isThere = () => {
      const step = video.currentTime - at;
      at += step;
      // Larger steps are seeks.
      if (step > 0 && step < 0.5) playedSeconds += step;
      return playedSeconds > 1 && Math.abs(lateBySeconds(lab)) < closeSeconds;
    };
    return window.lab.until('at the target', isThere, lab);
  };
  const acts: Record<LiveIncident, Act> = {
    late: (lab) => window.lab.until('late', () => lateBySeconds(lab) > 0.5, lab),
    'paused encoder': (lab) => {
      // 20 x 5 attempts 0.1 s apart outlast the pause.
      lab.player.updateSettings({ streaming: { retryAttempts: { MediaSegment: 20 } } });
      return window.lab.until('late', () => lateBySeconds(lab) > 2, lab);
    },
    decision: (lab) => {
      const before = lab.decisions.length;
      return window.lab.until('a decision', () => lab.decisions.length > before, lab);
    },
    periods: (lab) => {
      // A period has 4 s.
      const change = Math.ceil(lab.video.currentTime / 4) * 4;
      return window.lab.until('two changes', () => lab.video.currentTime > change + 4, lab);
    },
    seek: async (lab) => {
      const { player, video } = lab;
      const to = video.currentTime - 20;
      player.seekToPresentationTime(to);
      await window.lab.until('playback there', () => video.currentTime > to + 3 && video.currentTime < to + 10, lab);
      player.seekToOriginalLive();
    },
    pause: async ({ player, video }, i) => {
      // dash.js jumps after a pause of more than 4 s, instead of the stream's 13.5 s.
      player.updateSettings({ streaming: { liveCatchup: { maxDrift: 4 } } });
      const isOfElement = i === 0;
      if (isOfElement) video.pause();
      else player.pause();
      await new Promise((resolve) => setTimeout(resolve, 6000));
      if (isOfElement) return video.play();
      // Without the second call, dash.js would take the lateness for the viewer's choice.
      player.play();
      player.seekToOriginalLive();
    },
  };
  const view = async (event: LiveIncident, manifest: string, i: number) => {
    const lab = window.lab.start({ options: i === 0 ? {} : { controller: 'mpc-d' } });
    const { player, video, decisions } = lab;
    const errors: string[] = [];
    player.on('error', ({ error }: { error?: unknown }) => errors.push(JSON.stringify(error)));
    player.initialize(video, manifest, true);
    await atTarget(lab, closeSeconds(event, i));
    const before = decisions.length;
    await acts[event](lab, i);
    await atTarget(lab, closeSeconds(event, i));
    return { targetSeconds: player.getTargetLiveDelay(), errors, decisions: decisions.length - before };
  };
  window.viewers = (event, manifests) => Promise.all(manifests.map((manifest, i) => view(event, manifest, i)));
}

async function view(page: Page, event: LiveIncident, manifests: readonly string[]) {
  await page.evaluate(installLivePage);
  return page.evaluate(([event, manifests]) => window.viewers(event, manifests), [event, manifests] as const);
}

function expectUndisturbed(seen: readonly ViewerSeen[]): void {
  for (const { decisions, ...viewer } of seen) {
    expect(viewer).toEqual({ targetSeconds: LIVE.targetLatencySeconds, errors: [] });
    expect(decisions).toBeGreaterThan(0);
  }
}

/** The streams of the two viewers. */
const EVENTS: [what: string, event: LiveIncident, streams: StreamOptions | StreamOptions[]][] = [
  ['the link carries nothing for 2.5 s', 'late', { link: { 10: 20e6, 12.5: 0, 600: 20e6 } }],
  [
    'the encoder pauses for 5 s, within a segment and where one begins',
    'paused encoder',
    // A segment begins to exist at 8.55 s.
    [9, 8.4].map((fromSeconds) => ({ live: { ...LIVE, encoderPauses: [{ fromSeconds, seconds: 5 }] } })),
  ],
  ['periods change', 'periods', { media: { periods: 30 } }],
  ['a seek into the time-shift buffer, and back to live', 'seek', {}],
  ['a pause that is longer than what is caught up', 'pause', {}],
];
for (const [what, event, streams] of EVENTS) {
  test(what, event === 'late' || event === 'seek' ? CORE_WITH_CATCH_UP : {}, async ({ labPage, two }) => {
    const manifests = Array.isArray(streams) ? streams.map((one, i) => two(one)[i]!) : two(streams);
    expectUndisturbed(await view(labPage, event, manifests));
  });
}

for (const wrongBySeconds of [3, -3]) {
  test(`the clock of the device is wrong by ${wrongBySeconds} s`, async ({ labPage, two, origin }) => {
    await labPage.addInitScript(installClocks, { wallOffsetMs: wrongBySeconds * 1000 });
    await labPage.reload();
    const manifests = two();
    expectUndisturbed(await view(labPage, 'decision', manifests));
    for (const [i, manifest] of manifests.entries()) {
      const session = origin.session(manifest.split('/').at(-2)!)!;
      // This latency is measured by the origin's clock, not by the player's.
      const latencySeconds = async () => {
        const mediaSeconds = await labPage.evaluate((i) => window.lab.players[i]!.video.currentTime, i);
        return session.nowSeconds + LIVE.timeShiftSeconds - mediaSeconds;
      };
      await expect
        .poll(async () => Math.abs((await latencySeconds()) - LIVE.targetLatencySeconds), { intervals: [50] })
        .toBeLessThan(0.2);
    }
  });
}
