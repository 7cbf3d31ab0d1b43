/** The routes of the service's page (`page/`, which the build copies beside the command). */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const HERE = dirname(fileURLToPath(import.meta.url));
/** From source, and beside the built command. */
const FOLDER = [join(HERE, '..', 'page'), join(HERE, 'page')].find((folder) => existsSync(folder));
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};
/** The page's files by path. */
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

export const ABOUT = `This is the prediction service of leo-abr. It runs.

/              in a browser: all of it as a page
/v1/state      the dish, the players and current problems
/openapi.json  all paths
`;

/** The page for browsers; a text for other clients at `/`. */
export function servePage(app: FastifyInstance): void {
  for (const [path, { mediaType, body }] of FILES) {
    app.get(path, { schema: { hide: true } }, (request, reply) => {
      if (path === '/' && !isBrowser(request)) return reply.type('text/plain').send(ABOUT);
      return reply
        .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' })
        .type(mediaType)
        .send(body);
    });
  }
}

/** Whether a person opens this address in a browser. */
export function isBrowser({ headers: { accept } }: FastifyRequest): boolean {
  return accept?.includes('text/html') === true;
}
