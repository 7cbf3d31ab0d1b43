/**
 * What happens to viewers of a low-latency stream: playback goes on, and latency returns to the target. Two players
 * side by side, one with `mpc-l` and one with `mpc-d`.
 */

import type { LiveStream } from '../../replay/scenarios.ts';
import { test as base, expect, type LabPlayer, type StreamOptions } from './playback-test.ts';

const LIVE: LiveStream = {
  chunkSeconds: 0.25,
  encoderLatencySeconds: 0.3,
  targetLatencySeconds: 2,
  timeShiftSeconds: 40,
  // Wide, so that a player that is late catches up within seconds.
  playbackRates: { min: 0.5, max: 1.5 },
};
const STREAM: StreamOptions = {
  ladderBps: [1e6, 2.5e6, 5e6],
  segmentSeconds: 2,
  segmentCount: 60,
  link: [[600, 20e6]],
  live: LIVE,
};

/** Helpers in the page, beside `window.lab`. */
interface LivePage {
  /** Plays the streams until all players are at their target; then `act`s on each, until it is there again. */
  viewers(manifests: readonly string[], act: (lab: LabPlayer, i: number) => Promise<void>): Promise<Seen[]>;
  lateBySeconds(lab: LabPlayer): number;
}

/** Of one viewer at the end. */
interface Seen {
  targetSeconds: number;
  faults: string[];
  /** Errors of dash.js. */
  errors: string[];
  /** The plugin's decisions since `act` began. */
  decisions: number;
}

declare global {
  interface Window {
    livePage: LivePage;
  }
}

interface Fixtures {
  /** Serves two streams; returns the URLs of their folders, with a slash at their end. */
  two(options?: StreamOptions): string[];
}

const test = base.extend<Fixtures>({
  page: async ({ page }, use) => {
    await page.addInitScript(installLivePage);
    await use(page);
  },
  // The origin's UTC is the device's: in a seek, dash.js 5.2.1 counts the difference twice.
  two: ({ stream }, use) =>
    use((options) => [1, 2].map(() => stream({ ...STREAM, startUtcMs: Date.now(), ...options }))),
});

test.describe.configure({ mode: 'parallel' });

/** Runs in the page before its scripts. */
function installLivePage(): void {
  const CLOSE_SECONDS = 0.1;
  const lateBySeconds = ({ player }: LabPlayer) => player.getCurrentLiveLatency() - player.getTargetLiveDelay();
  /** A second of media has been played, and latency is close to the target. */
  const atTarget = (lab: LabPlayer) => {
    const { video } = lab;
    let at = video.currentTime;
    let playedSeconds = 0;
    const isThere = () => {
      const step = video.currentTime - at;
      at += step;
      // Larger ones are seeks.
      if (step > 0 && step < 0.5) playedSeconds += step;
      return playedSeconds > 1 && Math.abs(lateBySeconds(lab)) < CLOSE_SECONDS;
    };
    return window.lab.until('at the target', isThere, lab);
  };
  const view = async (manifest: string, i: number, act: (lab: LabPlayer, i: number) => Promise<void>) => {
    const lab = window.lab.start({ options: i === 0 ? {} : { controller: 'mpc-d' } });
    const { player, video, decisions, faults } = lab;
    const errors: string[] = [];
    player.on('error', ({ error }: { error?: unknown }) => errors.push(JSON.stringify(error)));
    player.initialize(video, `${manifest}manifest.mpd`, true);
    await atTarget(lab);
    const before = decisions.length;
    await act(lab, i);
    await atTarget(lab);
    return {
      targetSeconds: player.getTargetLiveDelay(),
      faults: faults.map(({ code, message }) => `${code}: ${message}`),
      errors,
      decisions: decisions.length - before,
    };
  };
  window.livePage = {
    lateBySeconds,
    viewers: (manifests, act) => Promise.all(manifests.map((manifest, i) => view(manifest, i, act))),
  };
}

function expectUndisturbed(seen: readonly Seen[]): void {
  for (const { decisions, ...viewer } of seen) {
    expect(viewer).toEqual({ targetSeconds: LIVE.targetLatencySeconds, faults: [], errors: [] });
    expect(decisions).toBeGreaterThan(0);
  }
}

test('the link stands still for 2.5 s', async ({ labPage, two }) => {
  const seen = await labPage.evaluate(
    (folders) =>
      window.livePage.viewers(folders, (lab) =>
        window.lab.until('late', () => window.livePage.lateBySeconds(lab) > 0.5, lab),
      ),
    two({
      link: [
        [10, 20e6],
        [12.5, 0],
        [600, 20e6],
      ],
    }),
  );
  expectUndisturbed(seen);
});

test('the encoder pauses for 5 s, within a segment and where one begins', async ({ labPage, stream }) => {
  // A segment begins to exist at 8.55 s.
  const folders = [9, 8.4].map((fromSeconds) =>
    stream({ ...STREAM, live: { ...LIVE, encoderPauses: [{ fromSeconds, seconds: 5 }] } }),
  );
  const seen = await labPage.evaluate(
    (folders) =>
      window.livePage.viewers(folders, async (lab) => {
        // 20 x 5 attempts 0.1 s apart outlast the pause.
        lab.player.updateSettings({ streaming: { retryAttempts: { MediaSegment: 20 } } });
        await window.lab.until('late', () => window.livePage.lateBySeconds(lab) > 2, lab);
      }),
    folders,
  );
  expectUndisturbed(seen);
});

for (const wrongBySeconds of [3, -3]) {
  test(`the clock of the device is wrong by ${wrongBySeconds} s`, async ({ labPage, two, origin }) => {
    await labPage.addInitScript(shiftClock, wrongBySeconds * 1000);
    await labPage.reload();
    const folders = two();
    const seen = await labPage.evaluate(
      (folders) =>
        window.livePage.viewers(folders, async (lab) => {
          const before = lab.decisions.length;
          await window.lab.until('a decision', () => lab.decisions.length > before, lab);
        }),
      folders,
    );
    expectUndisturbed(seen);
    for (const [i, folder] of folders.entries()) {
      const session = origin.session(folder.split('/').at(-2)!)!;
      // By the origin's clock, not by the player's.
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

test('periods change', async ({ labPage, two }) => {
  const seen = await labPage.evaluate(
    (folders) =>
      window.livePage.viewers(folders, async ({ video }) => {
        // Of 8 s each.
        const change = Math.ceil(video.currentTime / 8) * 8;
        await window.lab.until('two changes', () => video.currentTime > change + 8);
      }),
    two({ media: { periods: 15 } }),
  );
  expectUndisturbed(seen);
});

test('another stream replaces the first', async ({ labPage, two }) => {
  const folders = two();
  const seen = await labPage.evaluate(
    ({ folders, others }) =>
      window.livePage.viewers(folders, async (lab, i) => {
        lab.player.attachSource(`${others[i]!}manifest.mpd`);
        await window.lab.until('decisions on it', () => lab.decisions.at(-1)!.session === 2, lab);
      }),
    { folders, others: two() },
  );
  expectUndisturbed(seen);
});

test('a seek into the time-shift buffer, and back to live', async ({ labPage, two }) => {
  const seen = await labPage.evaluate(
    (folders) =>
      window.livePage.viewers(folders, async (lab) => {
        const { player, video } = lab;
        const to = video.currentTime - 20;
        player.seekToPresentationTime(to);
        await window.lab.until('playback there', () => video.currentTime > to + 3 && video.currentTime < to + 10, lab);
        player.seekToOriginalLive();
      }),
    two(),
  );
  expectUndisturbed(seen);
});

test('a pause of 20 s', async ({ labPage, two }) => {
  const seen = await labPage.evaluate(
    (folders) =>
      window.livePage.viewers(folders, async ({ player, video }, i) => {
        const isOfElement = i === 0;
        if (isOfElement) video.pause();
        else player.pause();
        await new Promise((resolve) => setTimeout(resolve, 20_000));
        if (isOfElement) {
          // dash.js jumps: 20 s are more than its `maxDrift`.
          await video.play();
        } else {
          // dash.js takes the lateness for the viewer's choice, until it is told otherwise.
          player.play();
          player.seekToOriginalLive();
        }
      }),
    two(),
  );
  expectUndisturbed(seen);
});

/** Runs in the page before its scripts. */
function shiftClock(offsetMs: number): void {
  const RealDate = Date;
  const nowMs = () => RealDate.now() + offsetMs;
  window.Date = new Proxy(RealDate, {
    construct: (target, given: [number]) => new target(...(given.length > 0 ? given : ([nowMs()] as const))),
    get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
  });
}
