/** The routes of the service's page (`page/`, which the build copies beside the command). */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

const HERE = dirname(fileURLToPath(import.meta.url));
/** From source, and beside the built command. */
const FOLDER = [join(HERE, '..', 'page'), join(HERE, 'page')].find((folder) => existsSync(folder));
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};
const FILES = new Map(
  (FOLDER === undefined ? [] : readdirSync(FOLDER)).flatMap((name) => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    const body = readFileSync(join(FOLDER!, name));
    return [[name === 'index.html' ? '/' : `/page/${name}`, { mediaType, body }]];
  }),
);
/** Open without a token, which the page asks for itself. */
export const PAGE_PATHS: readonly (string | undefined)[] = ['/', ...FILES.keys()];
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

export function servePage(app: FastifyInstance): void {
  for (const [path, { mediaType, body }] of FILES) {
    const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };
    app.get(path, { schema: { hide: true } }, (_request, reply) => reply.headers(headers).type(mediaType).send(body));
  }
}
