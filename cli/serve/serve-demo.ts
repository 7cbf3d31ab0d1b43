/** `leo-abr serve-demo`: serves the built demo page and the origin that its players stream from. */

import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { filmClips } from '../../replay/media/film.ts';
import { type RunningOrigin, startOrigin, staticSite } from '../../replay/origin/index.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { collect } from '../shared/options.ts';
import { builtFolder } from '../tool.ts';
import { LinkServices } from './link-services.ts';
import { addListenOptions, interrupted, listening, portOption } from './serve-options.ts';

type ServeDemoFlags = { host: string; port: string; traces?: string[]; page?: string };

export function serveDemoCommand(io: CommandIo): Command {
  return addListenOptions(new Command('serve-demo'), 8788)
    .description('serve the built demo page and the origin that its players stream from')
    .option('--traces <file|folder>', 'your own traces, listed after the shipped ones (repeatable)', collect)
    .option('--page <folder>', 'folder of the built page (default: the one in the package)')
    .action((flags: ServeDemoFlags) => serveDemo(flags, io));
}

async function serveDemo({ host, port, traces: paths, page }: ServeDemoFlags, io: CommandIo): Promise<void> {
  const answerPage = staticSite(pageFolder(page));
  const own = paths === undefined ? [] : readTraces(paths, { onNote: (note) => io.stderr.write(`${note}\n`) });
  const services = new LinkServices((id) => running.session(id));
  const running: RunningOrigin = await listening(
    {
      host,
      port: portOption(port),
      traces: [...synthesizeShippedTraces(), ...own],
      acceptTraces: true,
      clips: filmClips(),
      fallback: (request: IncomingMessage, response: ServerResponse) =>
        answerAddress(request, response) || services.handle(request, response) || answerPage(request, response),
    },
    startOrigin,
  );
  io.stderr.write(`the demo is at ${running.url}\n`);
  await interrupted(io);
  await services.close();
  await running.close();
}

/** Answers `origin.json` with the origin's URL, which is this server under the host name of the request. */
function answerAddress(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.url?.split('?')[0] !== '/origin.json') return false;
  const { host = 'localhost' } = request.headers;
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify({ url: `http://${host}` }));
  return true;
}

function pageFolder(given: string | undefined): string {
  if (given === undefined) return builtFolder('demo', 'index.html', 'build/demo');
  if (existsSync(join(given, 'index.html'))) return given;
  throw new InputError('--page', 'a folder with the built page', undefined, `${given}: no index.html`);
}
