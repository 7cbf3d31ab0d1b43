/** At the live edge, the plugin decides once per segment, and may abandon a download in the middle. */

import { SCENARIOS } from '../../replay/scenarios.ts';
import { CORE, expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

const LADDER_BPS = [...SCENARIOS['live-hd-3']!.ladderBps];
const LOW_LATENCY = SCENARIOS['live-hd-3']!.live!;

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
  // The plugin decides again if something new becomes known.
  expect(seen.length).toBeGreaterThanOrEqual(4);
  expect(seen.length).toBeLessThanOrEqual(8);
  for (const { bufferCapSeconds, live } of seen) expect(bufferCapSeconds).toBeLessThan(live!.latencySeconds);
});

test('low latency: mpc-l gives a download up in the middle of a segment, and plays on', CORE, async ({ onStream }) => {
  // After 6 s the link needs a minute for a chunk of the top bitrate.
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
