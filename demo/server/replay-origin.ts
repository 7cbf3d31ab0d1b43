/** A Vite plugin that runs the paced origin beside the server. In the built page, `origin.json` names its worker. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { delimiter } from 'node:path';
import type { Plugin, PreviewServer, ViteDevServer } from 'vite';
import { LinkServices } from '../../cli/serve/link-services.ts';
import { bundleAlgorithms } from '../../replay/bundle-algorithms.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { filmClips } from '../../replay/media/film.ts';
import { startOrigin } from '../../replay/origin/index.ts';
import type { OwnAlgorithm } from '../../replay/own-algorithm.ts';

export interface OriginAddress {
  /** URL of the origin's own server, without a slash at its end. The page's server forwards requests to it, too. */
  url?: string;
  /** Script of the service worker that is the origin, if `url` is absent. */
  worker?: string;
  /** The user's own algorithms, bundled when the page is loaded. */
  algorithms?: readonly OwnAlgorithm[];
}

/** `traces`: files and folders, in the order of the page's list. `algorithms`: files of the user's own algorithms. */
export function replayOrigin({ traces, algorithms }: Record<'traces' | 'algorithms', readonly string[]>): Plugin {
  const serve = async (server: ViteDevServer | PreviewServer): Promise<void> => {
    // If a file is wrong, this fails before anything is served.
    await bundleAlgorithms(algorithms);
    const origin = await startOrigin({ traces: readTraces(traces), acceptTraces: true, clips: filmClips() });
    const services = new LinkServices((id) => origin.session(id));
    server.httpServer?.once('close', () => void services.close().then(() => origin.close()));
    server.config.logger.info(`origin at ${origin.url}`, { timestamp: true });
    const address = async (): Promise<[status: number, OriginAddress | { error: string }]> => {
      try {
        return [200, { url: origin.url, algorithms: await bundleAlgorithms(algorithms) }];
      } catch (error) {
        return [500, { error: (error as Error).message }];
      }
    };
    server.middlewares.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      if (request.url?.split('?')[0] === '/origin.json') {
        void address().then(([status, body]) => {
          response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
          response.end(JSON.stringify(body));
        });
        return;
      }
      // A browser on another machine reaches only this server.
      if (!origin.handle(request, response) && !services.handle(request, response)) next();
    });
  };
  return {
    name: 'leo-abr:replay-origin',
    configureServer: serve,
    configurePreviewServer: serve,
    generateBundle() {
      const source: OriginAddress = { worker: 'origin-worker.js' };
      this.emitFile({ type: 'asset', fileName: 'origin.json', source: JSON.stringify(source) });
    },
  };
}

/** Splits the paths in an environment variable, which are separated as in PATH. */
export function pathsIn(variable: string | undefined): string[] {
  return (variable ?? '').split(delimiter).filter((path) => path !== '');
}
