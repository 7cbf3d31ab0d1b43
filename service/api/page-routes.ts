/** The routes of the service's page (`page/`, which the build copies beside the command). */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

const HERE = dirname(fileURLToPath(import.meta.url));
/** The folder beside this one in the source, and beside the built command. */
const FOLDER = [join(HERE, '..', 'page'), join(HERE, 'page')].find((folder) => existsSync(folder));
const TEXT_TYPES: Readonly<Record<string, string>> = { '.html': 'html', '.css': 'css', '.js': 'javascript' };
const FILES = new Map(
  (FOLDER === undefined ? [] : readdirSync(FOLDER)).flatMap((name) => {
    const type = TEXT_TYPES[extname(name)];
    const path = name === 'index.html' ? '/' : `/page/${name}`;
    return type === undefined ? [] : [[path, { type, body: readFileSync(join(FOLDER!, name)) }] as const];
  }),
);
/** The paths of the page need no token, because the page itself asks for the token. */
export const PAGE_PATHS: readonly (string | undefined)[] = ['/', ...FILES.keys()];
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

export function servePage(app: FastifyInstance): void {
  for (const [path, { type, body }] of FILES) {
    const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' };
    const mediaType = `text/${type}; charset=utf-8`;
    app.get(path, { schema: { hide: true } }, (_request, reply) => reply.headers(headers).type(mediaType).send(body));
  }
}
