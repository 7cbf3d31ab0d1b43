/** The files of the service's page (`page/`, which the build copies beside the command). */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PageFile {
  /** `/` or `/page/<name>`. */
  path: string;
  mediaType: string;
  body: Buffer;
}

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'page');
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Empty in a bundle that lacks them. */
export function readPageFiles(): PageFile[] {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  return names.flatMap((name) => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    return [{ path: name === 'index.html' ? '/' : `/page/${name}`, mediaType, body: readFileSync(join(FOLDER, name)) }];
  });
}
