/** The page's own limits hold, also if the plugin is attached late; dash.js decides on audio; sizes are known. */

import { CHANGE } from '../builds.ts';
import { editTexts, expect, LADDER_BPS, test } from './playback-test.ts';

test('limits, autoSwitchBitrate and initial bitrate hold', CHANGE, async ({ labPage, stream }) => {
  const limits = {
    most: { abr: { maxBitrate: { video: 1200 } } },
    least: { abr: { minBitrate: { video: 800 } } },
    fixed: { abr: { autoSwitchBitrate: { video: false }, initialBitrate: { video: 1200 } } },
    initial: { abr: { initialBitrate: { video: 2600 } } },
  };
  const seen = await labPage.evaluate(
    async (cases) => {
      const labs = cases.map((one) => window.lab.start(one));
      for (const lab of labs) await window.lab.until('all requests', ({ requests }) => requests.length === 5, lab);
      return labs.map(({ decisions, requests }) => ({
        ladders: decisions.map(({ state }) => state.ladderBps),
        requested: requests.map(({ representationId }) => Number(representationId.split('-')[1])),
      }));
    },
    Object.values(limits).map((streaming) => ({
      manifest: `${stream({ segmentCount: 5 })}manifest.mpd`,
      settings: { streaming },
    })),
  );
  type SeenPlayer = (typeof seen)[number];
  const [most, least, fixed, initial] = seen as [SeenPlayer, SeenPlayer, SeenPlayer, SeenPlayer];
  expect(most.ladders[0]).toEqual(LADDER_BPS.slice(0, 2));
  expect(Math.max(...most.requested)).toBeLessThanOrEqual(1);
  expect(least.ladders[0]).toEqual(LADDER_BPS.slice(1));
  expect(Math.min(...least.requested)).toBe(1);
  expect(fixed).toEqual({ ladders: [], requested: [1, 1, 1, 1, 1] });
  expect(initial.ladders[0]).toEqual([LADDER_BPS[2]]);
  expect(initial.requested[0]).toBe(2);
  expect(initial.ladders[1]).toEqual(LADDER_BPS);
});

test('attached while BOLA plays, it decides on video; audio still adapts', CHANGE, async ({ labPage, onStream }) => {
  // The manifest gets two more bitrates of audio with the same files.
  await editTexts(labPage, '**/manifest.mpd', (text) => {
    const audio = /<Representation id="audio" [\s\S]*?<\/Representation>/.exec(text)![0];
    const more = [64_000, 96_000].map((bps, i) =>
      audio.replace('id="audio"', `id="audio-${i + 1}"`).replace(/bandwidth="\d+"/, `bandwidth="${bps}"`),
    );
    return text.replace(audio, `${audio}\n${more.join('\n')}`);
  });
  const seen = await onStream({ segmentCount: 40, media: { audio: true } }, async (manifest) => {
    const lab = window.lab.start({});
    lab.handle.detach();
    const { player, video, requests, decisions } = lab;
    // BOLA decides from half a second of buffer on. Audio cannot switch up yet.
    const abr = { hybridSwitchBufferTime: 0.5, maxBitrate: { audio: 40 } };
    player.updateSettings({ streaming: { abr } });
    player.initialize(video, manifest, true);
    await window.lab.until('BOLA', () => requests.length >= 3 && video.currentTime > 0.5);
    const reasons: string[] = [];
    player.on('qualityChangeRequested', ({ mediaType, reason }) => {
      if (mediaType === 'audio') reasons.push(String((reason as { message?: string } | null)?.message));
    });
    const handle = window.LeoAbr.attachLeoAbr(player, { logger: null, abandon: false });
    handle.on('decision', (event) => decisions.push(event));
    player.updateSettings({ streaming: { abr: { maxBitrate: { audio: -1 } } } });
    await window.lab.until('audio switching up, and decisions', () => reasons.length > 0 && decisions.length > 4);
    return { reasons, faults: handle.state.faults.length, decisions, requests };
  });
  expect(seen.faults).toBe(0);
  expect(seen.reasons[0]).toContain('[ThroughputRule]');
  const asked = seen.requests.map(({ index, representationId }) => ({ index, representationId }));
  // dash.js may have decided on one segment before the plugin was attached. The last request may be due.
  for (const { state, representationId } of seen.decisions.slice(1, -1)) {
    expect(asked).toContainEqual({ index: state.segmentIndex, representationId });
  }
});

test('sizes come from sizes.json or the index of SegmentBase', CHANGE, async ({ labPage, stream }) => {
  const common = { segmentCount: 6, sizeSpread: 0.4 };
  const listed = stream(common);
  const indexed = stream({ ...common, media: { addressing: 'base' } });
  const seen = await labPage.evaluate(
    async ([listed, indexed]) => {
      // The file may arrive after the first decision, so only later decisions are checked.
      const labs = [
        window.lab.start({ manifest: `${listed}manifest.mpd`, options: { sizes: `${listed}sizes.json` } }),
        window.lab.start({ manifest: `${indexed}manifest.mpd` }),
      ];
      for (const lab of labs) await window.lab.until('all decisions', ({ decisions }) => decisions.length === 6, lab);
      const sizes = await (await fetch(`${listed}sizes.json`)).json();
      return {
        truth: Object.values(sizes.representations as Record<string, number[]>),
        sizes: labs.map(({ decisions }) => decisions.map(({ state }) => state.upcomingSizesBits)),
      };
    },
    [listed, indexed],
  );
  /** True sizes in bits from segment `from` on. */
  const truth = (from: number) =>
    Array.from({ length: 6 - from }, (_, k) => seen.truth.map((bytes) => bytes[from + k]! * 8));
  const [fromFile, fromIndex] = seen.sizes as [number[][][], number[][][]];
  for (let i = 1; i < 6; i++) expect(fromFile[i]).toEqual(truth(i));
  for (let i = 0; i < 6; i++) expect(fromIndex[i]).toEqual(truth(i));
});
