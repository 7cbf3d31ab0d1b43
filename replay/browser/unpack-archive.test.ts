import { describe, expect, test } from '@jest/globals';
import { readArchive } from './unpack-archive.ts';

/** One ustar entry. */
function entry(path: string, content: string, type = '0'): Uint8Array {
  const bytes = new TextEncoder().encode(content);
  const block = new Uint8Array(512 + Math.ceil(bytes.length / 512) * 512);
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at);
  put(0, path);
  put(100, '0000755\0');
  put(124, `${bytes.length.toString(8).padStart(11, '0')}\0`);
  put(156, type);
  put(257, 'ustar\0');
  block.set(bytes, 512);
  return block;
}

const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

describe('readArchive', () => {
  test('reads regular files and skips folders', () => {
    const archive = join(
      entry('lib/', '', '5'),
      entry('lib/a.so', 'x'.repeat(600)),
      entry('b', ''),
      new Uint8Array(1024),
    );
    const files = readArchive(archive);
    expect(files.map(({ path, mode, content }) => [path, mode, content.length])).toEqual([
      ['lib/a.so', 0o755, 600],
      ['b', 0o755, 0],
    ]);
  });

  test('throws for a truncated file', () => {
    expect(() => readArchive(entry('a', 'x'.repeat(600)).subarray(0, 700))).toThrow(/"a" at byte 0/);
  });
});
