/** Reads ustar archives, as in `@sparticuz/chromium`, without a `tar` command. */

interface ArchivedFile {
  path: string;
  /** Permission bits. */
  mode: number;
  content: Uint8Array;
}

const BLOCK_BYTES = 512;
const REGULAR_FILE = new Set(['0', '\0', '']);

/**
 * The regular files of an uncompressed ustar archive (POSIX.1-1988), in order.
 * @throws {Error} for a size that is not octal and for a truncated file.
 */
export function readArchive(bytes: Uint8Array): ArchivedFile[] {
  const files: ArchivedFile[] = [];
  let offset = 0;
  while (offset + BLOCK_BYTES <= bytes.length && bytes[offset] !== 0) {
    const field = (from: number, length: number) => {
      const raw = bytes.subarray(offset + from, offset + from + length);
      const end = raw.indexOf(0);
      return new TextDecoder().decode(end < 0 ? raw : raw.subarray(0, end)).trim();
    };
    const name = field(0, 100);
    const prefix = field(345, 155);
    const path = prefix ? `${prefix}/${name}` : name;
    const size = Number.parseInt(field(124, 12), 8);
    const start = offset + BLOCK_BYTES;
    if (!(size >= 0) || start + size > bytes.length) {
      throw new Error(`archive: "${path}" at byte ${offset} is truncated or has no valid size`);
    }
    if (REGULAR_FILE.has(field(156, 1))) {
      files.push({
        path,
        mode: Number.parseInt(field(100, 8), 8) & 0o777,
        content: bytes.subarray(start, start + size),
      });
    }
    offset = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return files;
}
