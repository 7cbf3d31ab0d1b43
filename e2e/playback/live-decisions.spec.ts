/** Decisions at the live edge: the encoder is not taken for the link, and each segment is decided on once. */

import type { Controller } from '../../abr/controller.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { CORE, expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

const LADDER_BPS = [...SCENARIOS['live-hd-3']!.ladderBps];
const LOW_LATENCY = SCENARIOS['live-hd-3']!.live!;
const TOP = `video-${LADDER_BPS.length - 1}`;

test('on a fast link algorithms go to the top, though they saw 1 Mbit/s for long', async ({ labPage, stream }) => {
  test.setTimeout(120_000);
  const link = { 600: 100e6 };
  const media = { ladderBps: LADDER_BPS, segmentCount: 120, link, live: LOW_LATENCY };
  const play = async (algorithm: 'throughput' | 'mpc-d' | 'mpc-l') => {
    const folder = stream(media);
    await labPage.evaluate(
      async ({ manifest, algorithm, top }) => {
        // The highest bitrate within the throughput of one of the downloads.
        const throughput: Controller = {
          name: 'throughput',
          decide({ ladderBps, downloads }) {
            const rates = downloads.map(
              ({ receivedBits, downloadSeconds, latencySeconds = 0 }) =>
                receivedBits / (downloadSeconds - latencySeconds),
            );
            const representation = Math.max(0, ladderBps.filter((bps) => bps <= Math.max(...rates)).length - 1);
            return { representation, controller: 'throughput', reason: 'measured' };
          },
        };
        const controller = algorithm === 'throughput' ? throughput : algorithm;
        const settings = { streaming: { abr: { maxBitrate: { video: 1100 } } } };
        const lab = window.lab.start({ manifest, options: { controller }, settings });
        const { player, requests } = lab;
        await window.lab.until('segments at the live edge', () => requests.length >= 10, lab);
        player.updateSettings({ streaming: { abr: { maxBitrate: { video: -1 } } } });
        const released = requests.length;
        // In a row: a pause of the host may delay that.
        const isThere = () =>
          requests.length >= released + 4 && requests.slice(-4).every((one) => one.representationId === top);
        await window.lab.until('the top, four times', isThere, lab);
      },
      { manifest: `${folder}manifest.mpd`, algorithm, top: TOP },
    );
  };
  await Promise.all([play('throughput'), play('mpc-d'), play('mpc-l')]);
});

test('whole segments: mpc-l decides on each once, and its buffer is below the delay', CORE, async ({ onStream }) => {
  const live = { ...LOW_LATENCY, chunkSeconds: 1, targetLatencySeconds: 4 };
  const media = { segmentCount: 80, link: { 600: 20e6 }, live };
  const seen = await onStream(media, async (manifest) => {
    const { requests, decisions } = window.lab.start({ manifest });
    await window.lab.until('segments at the live edge', () => requests.length >= 8);
    const from = requests.at(-1)!.index;
    await window.lab.until('four more', () => requests.at(-1)!.index >= from + 4);
    return decisions.map(({ state }) => state).filter(({ segmentIndex }) => segmentIndex > from);
  });
  // Four, and more where something new became known.
  expect(seen.length).toBeGreaterThanOrEqual(4);
  expect(seen.length).toBeLessThanOrEqual(8);
  for (const { bufferCapSeconds, live } of seen) expect(bufferCapSeconds).toBeLessThan(live!.latencySeconds);
});

test('low latency: mpc-l gives a download up in the middle of a segment, and plays on', CORE, async ({ onStream }) => {
  // After 6 s a link that carries a chunk of the top in a minute.
  const link = { 6: 40e6, 11: 100e3, 600: 12e6 };
  const media = { ladderBps: LADDER_BPS, segmentSeconds: 2, segmentCount: 40, link, live: LOW_LATENCY };
  await onStream(media, async (manifest) => {
    const { requests, decisions, video } = window.lab.start({ manifest, options: { abandon: true } });
    const given = () => decisions.find(({ kind, inFlight }) => kind === 'abandon' && inFlight!.receivedBits > 0);
    await window.lab.until('a download that is given up after some of its bits', given);
    const { state, representationId } = given()!;
    const again = () =>
      requests.some((one) => one.index === state.segmentIndex && one.representationId === representationId);
    await window.lab.until('the request in the chosen representation', again);
    const at = video.currentTime;
    await window.lab.until('five more seconds of playback', () => video.currentTime > at + 5);
  });
});

test('an encoder that was quiet and then sends 1.6 times its bitrate: no stall that dash.js alone would not have', async ({
  labPage,
  stream,
}) => {
  test.setTimeout(150_000);
  const ladderBps = [1e6, 2.5e6, 5e6, 8e6, 12e6];
  const segmentSeconds = 2;
  // 20 s before the join and 20 s after it are quiet.
  const share = (segment: number) => (segment < 20 ? 0.2 : 1.6);
  const segmentSizesBits = Array.from({ length: 40 }, (_, segment) =>
    ladderBps.map((bps) => bps * segmentSeconds * share(segment)),
  );
  const media = {
    ladderBps,
    segmentSeconds,
    segmentSizesBits,
    segmentCount: 40,
    link: { 600: 10e6 },
    live: LOW_LATENCY,
  };
  const play = (isPlain: boolean) =>
    labPage.evaluate(
      async ({ manifest, isPlain }) => {
        const lab = window.lab.start({ manifest, isPlain });
        const { video, decisions } = lab;
        await window.lab.until('a picture', () => video.currentTime > 0, lab);
        const [startMs, startSeconds] = [performance.now(), video.currentTime];
        await new Promise((resolve) => setTimeout(resolve, 45_000));
        const lateSeconds = (performance.now() - startMs) / 1000 - (video.currentTime - startSeconds);
        const shares = decisions.flatMap(({ state: { upcomingSizesBits, ladderBps, segmentSeconds } }) =>
          upcomingSizesBits.flatMap((row) => row.map((bits, i) => bits / (segmentSeconds * ladderBps[i]!))),
        );
        await lab.player.destroy();
        return { lateSeconds, smallest: Math.min(...shares), largest: Math.max(...shares) };
      },
      { manifest: `${stream({ ...media, startUtcMs: Date.now() })}manifest.mpd`, isPlain },
    );
  const [plugin, plain] = await Promise.all([play(false), play(true)]);
  expect(plugin!.smallest).toBeGreaterThanOrEqual(0.8);
  expect(plugin!.largest).toBeGreaterThan(1.4);
  expect(plugin!.lateSeconds).toBeLessThan(Math.max(0, plain!.lateSeconds) + 1.5);
});
