/** Makes clips of a second codec. The repository ships only H.264, so Chromium encodes VP9. */

import type { Page } from '@playwright/test';
import { box, concatBytes, fullBox } from '../../replay/media/boxes.ts';
import { videoClip } from '../../replay/media/clips.ts';
import type { Clip } from '../../replay/media/fixture.ts';
import { withSampleEntry } from './containers.ts';

/** Profile 0, level 1.0, 8 bits. */
const CODEC = 'vp09.00.10.08';
const CONFIGURATION = fullBox('vpcC', 1, 0, Uint8Array.of(0, 10, 0x82, 1, 1, 1, 0, 0));
const VISUAL_SAMPLE_ENTRY_BYTES = 78;
/** The composer repeats a second of pictures. Other clips have the same flags. */
const PICTURES = 24;
const [SYNC_FLAGS, OTHER_FLAGS] = [0x2000000, 0x1010000];

/** The first clips, in VP9. */
export async function vp9Clips(page: Page, count: number): Promise<Clip[]> {
  const clips = Array.from({ length: count }, (_, i) => videoClip(i));
  const sizes = clips.map(({ width, height }) => ({ width, height }));
  const encoded = await page.evaluate(encode, { codec: CODEC, sizes, pictures: PICTURES });
  return clips.map((clip, i) => ({
    ...clip,
    codec: CODEC,
    init: withSampleEntry(clip.init, (entry) =>
      box('vp09', concatBytes([entry.subarray(0, VISUAL_SAMPLE_ENTRY_BYTES), CONFIGURATION])),
    ),
    samples: encoded[i]!.map((base64, picture) => ({
      bytes: Uint8Array.from(Buffer.from(base64, 'base64')),
      durationTicks: clip.samples[0]!.durationTicks,
      flags: picture === 0 ? SYNC_FLAGS : OTHER_FLAGS,
      isSync: picture === 0,
    })),
  }));
}

type Order = { codec: string; sizes: { width: number; height: number }[]; pictures: number };

/** Runs in the page. Returns each clip's pictures in base64. */
function encode({ codec, sizes, pictures }: Order): Promise<string[][]> {
  const encodeOne = async ({ width, height }: Order['sizes'][number]) => {
    const chunks: string[] = [];
    const encoder = new VideoEncoder({
      output(chunk) {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        chunks.push(btoa(String.fromCharCode(...bytes)));
      },
      error(error) {
        throw error;
      },
    });
    encoder.configure({ codec, width, height, bitrate: 50e3, framerate: 24, latencyMode: 'realtime' });
    const context = new OffscreenCanvas(width, height).getContext('2d')!;
    for (let i = 0; i < pictures; i++) {
      context.fillStyle = `hsl(${i * 15} 80% 50%)`;
      context.fillRect(0, 0, width, height);
      const frame = new VideoFrame(context.canvas, { timestamp: (i * 1e6) / 24 });
      encoder.encode(frame, { keyFrame: i === 0 });
      frame.close();
    }
    await encoder.flush();
    return chunks;
  };
  return Promise.all(sizes.map(encodeOne));
}
