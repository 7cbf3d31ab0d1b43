/** Serves the files of the built page, as the origin's fallback. */

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { requestPath } from '../origin/node/request-path.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The page's folder in URLs. */
export const PAGE_PATH = '/page/';

/** Responds to paths below `/page/`; false for anything else. */
export function servePageFiles(directory: string) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const pathname = requestPath(request);
    if (!pathname.startsWith(PAGE_PATH)) return false;
    const file = join(directory, pathname.slice(PAGE_PATH.length) || 'index.html');
    if (!file.startsWith(directory + sep)) return false;
    let content: Buffer;
    try {
      content = readFileSync(file);
    } catch {
      return false;
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-length': content.length,
      'cache-control': 'no-store',
      // The clock of an isolated page has a resolution of 5 instead of 100 microseconds.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    });
    response.end(content);
    return true;
  };
}
