/** Serves a folder of built pages. Files are read once, so that no request can reach a file outside the folder. */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';

type Headers = Record<string, string>;

const TYPES: Readonly<Headers> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

/** Vite puts a hash of the content into these names, so a file never changes under its name. */
const HASHED = /^assets[\\/]/;

/**
 * Makes a handler that answers GET and HEAD for the files of `folder` (`at` is `index.html`) and 405 for other methods.
 * For any other path it returns false. `at`: the folder's path in URLs; `headers`: beyond, or instead of, a file's own
 * headers; `names`: the only files (default: all in the folder and its subfolders). Throws the file system's errors.
 */
export function staticSite(
  folder: string,
  { at = '/', headers = {}, names }: { at?: string; headers?: Headers; names?: readonly string[] } = {},
) {
  const files = new Map<string, { body: Buffer; headers: Headers }>();
  for (const name of names ?? readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name);
    if (!statSync(file).isFile()) continue;
    const path = `${at}${name.split(sep).map(encodeURIComponent).join('/')}`;
    const body = readFileSync(file);
    files.set(path, { body, headers: { ...headersOf(name, body), ...headers } });
  }
  const index = files.get(`${at}index.html`);
  if (index !== undefined) files.set(at, index);

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const pathname = requestPath(request);
    const file = files.get(pathname);
    if (file === undefined) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return true;
    }
    if (request.headers['if-none-match'] === file.headers['etag']) {
      response.writeHead(304, file.headers).end();
      return true;
    }
    response.writeHead(200, { ...file.headers, 'content-length': file.body.length });
    response.end(request.method === 'HEAD' ? undefined : file.body);
    return true;
  };
}

function headersOf(name: string, body: Buffer): Headers {
  return {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'cache-control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    'x-content-type-options': 'nosniff',
  };
}

/** Percent-encoded, without query. Never throws, unlike `new URL`, which rejects `//` (RFC 9112, 3.2.2). */
export function requestPath({ url = '/' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] || '/';
}
