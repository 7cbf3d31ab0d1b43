import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { videoStream } from './fake-player.fixture.ts';
import type { ShakaStream, Variant } from './player.ts';
import { Variants, withAudio } from './variants.ts';

const audioStream = (id: number, more: Partial<ShakaStream> = {}): ShakaStream => ({
  ...{ id, originalId: `a${id}`, type: 'audio', language: 'en', roles: [], channelsCount: 2, segmentIndex: null },
  ...more,
});

const variant = (video: ShakaStream | null, audio: ShakaStream | null, bandwidth: number): Variant => ({
  ...{ id: Math.random(), video, audio, bandwidth },
});

const known = (variants: Variant[]) => {
  const all = new Variants();
  all.set(variants);
  return all;
};

test('the ladder has each video once, ascending, with unique ids', () => {
  const sizes = [360, 720, 720, 720];
  const videos = [2, 1, 3, 4].map((id) => videoStream(id, id * 1e6, sizes[id - 1]!));
  Object.assign(videos[2]!, { originalId: 'v2' });
  Object.assign(videos[3]!, { originalId: null });
  const audios = [audioStream(8), audioStream(9)];
  const variants = videos.flatMap((video) => audios.map((audio) => variant(video, audio, 1)));
  const rungs = ['v1', 'v2', '3', '4'].map((id, i) => ({ id, bitrateBps: (i + 1) * 1e6 }));
  expect(known(variants).ladder(variants)).toMatchObject(rungs);
});

test("the ladder counts the variants' bandwidth for all of HLS, also once Shaka has measured a playlist", () => {
  const videos = [1, 2].map((id): ShakaStream => ({ ...videoStream(id, 0, 360 * id), bandwidth: undefined as never }));
  const variants = videos.flatMap((video, i) => [
    variant(video, audioStream(8), 2e6 + i),
    variant(video, audioStream(9), 1e6 + i),
  ]);
  const all = known(variants);
  videos[0]!.bandwidth = 5e6;
  all.set(variants.slice(0, 2));
  all.set(variants);
  expect(all.ladder(variants).map(({ bitrateBps }) => bitrateBps)).toEqual([1e6, 1e6 + 1]);
  expect(all.isUnknown).toBe(false);
});

const VIDEOS = [250e3, 700e3, 1.5e6, 2.5e6, 4.5e6].map((bps, i) => videoStream(i, bps, 180 * (i + 1)));
const AUDIOS = [50e3, 130e3, 222e3].map((bandwidth, i) => audioStream(10 + i, { bandwidth }));
const of = (video: ShakaStream, audios = AUDIOS) =>
  audios.map((audio) => variant(video, audio, video.bandwidth! + audio.bandwidth!));
/** With the lowest of five videos, on a link for the lowest audio alone, unless the test says otherwise. */
const picked = (variants: Variant[], reference: ShakaStream | undefined, { rung = 0, rungs = 5, stay = 0, up = 0 }) =>
  withAudio(variants, { rung, rungs }, { reference, mostBps: { stay, up } })!.audio!;
const chosen = (rung: number, playing: number | undefined, linkBps: number, audios = AUDIOS) => {
  const reference = playing === undefined ? audioStream(99) : audios[playing];
  const place = { rung, stay: 0.95 * linkBps, up: 0.85 * linkBps };
  return audios.indexOf(picked(of(VIDEOS[rung]!, audios), reference, place));
};

test('the audio follows the video and the link', () => {
  expect([0, 1, 2, 3, 4].map((rung) => chosen(rung, undefined, 20e6))).toEqual([0, 0, 1, 1, 2]);
  // It stays beside a neighbour, and with the lowest video it is the lowest.
  expect([0, 1, 2, 3, 4].map((rung) => chosen(rung, 1, 20e6))).toEqual([0, 1, 1, 1, 2]);
  expect([0, 1, 2, 3, 4].map((rung) => chosen(rung, 2, 20e6))).toEqual([0, 0, 1, 2, 2]);
  // 4.5 and 0.13 Mbit/s fit, but are not gone up to.
  expect([0, 1, 2].map((playing) => chosen(4, playing, 4.9e6))).toEqual([0, 1, 1]);
  expect(chosen(4, 2, 1e6)).toBe(0);
});

test('the audio follows the link alone beside one video', () => {
  const variants = of(VIDEOS[0]!);
  const at = (bps: number) => picked(variants, undefined, { rungs: 1, stay: bps, up: bps }).bandwidth;
  expect([0.2e6, 0.35e6, 0.4e6, 1e6].map(at)).toEqual([50e3, 50e3, 130e3, 222e3]);
});

test('the audio keeps language, roles and channels where there are some, and the label where nothing else decides', () => {
  const commentary = AUDIOS.map((audio) => ({ ...audio, id: audio.id + 10, roles: ['commentary'] }));
  const surround = AUDIOS.map((audio) => ({ ...audio, id: audio.id + 20, channelsCount: 6 }));
  const french = AUDIOS.map((audio) => ({ ...audio, id: audio.id + 30, language: 'fr' }));
  const all = [...AUDIOS, ...commentary, ...surround, ...french];
  const kind = ({ language, roles, channelsCount }: ShakaStream) => ({ language, roles, channelsCount });
  for (const [playing, audio] of all.entries()) {
    for (const rung of VIDEOS.keys()) expect(kind(all[chosen(rung, playing, 20e6, all)]!)).toEqual(kind(audio));
  }
  const labelled = ['Main', 'Other'].map((label, i) => audioStream(60 + i, { label, bandwidth: 50e3 }));
  expect([0, 1].map((playing) => chosen(4, playing, 20e6, labelled))).toEqual([0, 1]);
  const other = audioStream(70, { label: 'Other' });
  expect(picked(of(VIDEOS[0]!, labelled), other, {}).label).toBe('Other');
});

test('the audio is any if no other goes with the video', () => {
  const surround = audioStream(30, { channelsCount: 6, bandwidth: 400e3 });
  expect(picked(of(VIDEOS[1]!, [surround]), AUDIOS[0], { rung: 1, stay: 1, up: 1 })).toBe(surround);
});

test('the audio does not flip between neighbours of the video, once it has settled', () => {
  const link = fc.double({ min: 5e6, max: 20e6, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 2 }), link, (rung, playing, linkBps) => {
      let audio = playing;
      for (let i = 0; i < 4; i++) audio = chosen(rung + (i % 2), audio, linkBps);
      const settled = audio;
      for (let i = 0; i < 4; i++) {
        audio = chosen(rung + (i % 2), audio, linkBps);
        expect(audio).toBe(settled);
      }
    }),
  );
});
