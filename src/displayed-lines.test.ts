import { afterEach, expect, test } from '@jest/globals';
import { displayedLines } from './adapter-kit.ts';

const video = (clientWidth: number, clientHeight: number, size = {}) =>
  ({ clientWidth, clientHeight, videoWidth: 1920, videoHeight: 1080, ...size }) as unknown as HTMLVideoElement;

afterEach(() => {
  for (const name of ['devicePixelRatio', 'document', 'screen']) Reflect.deleteProperty(globalThis, name);
});

test('lines of the picture within the element', () => {
  expect(displayedLines(video(1920, 1080))).toBeCloseTo(1080, 9);
  // Bars above and below.
  expect(displayedLines(video(1280, 1080))).toBeCloseTo(720, 9);
  // As many pixels as a 16:9 picture of these lines.
  expect(displayedLines(video(900, 900, { videoWidth: 900, videoHeight: 900 }))).toBeCloseTo(675, 9);
});

test('a denser screen shows more, and a floating window less', () => {
  Object.assign(globalThis, { devicePixelRatio: 4 });
  expect(displayedLines(video(1920, 1080))).toBeCloseTo(2160, 9);
  const floating = video(0, 0);
  Object.assign(globalThis, { document: { pictureInPictureElement: floating }, screen: { height: 1080 } });
  expect(displayedLines(floating)).toBeCloseTo(540, 9);
});

test.each([undefined, null, video(0, 0)])('unknown while nothing is shown', (none) => {
  expect(displayedLines(none)).toBeUndefined();
});
