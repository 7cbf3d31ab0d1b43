/**
 * Vite plugin: runs the paced origin (replay/origin) beside the dev or preview server and tells the page where it is.
 * Node only. The page asks for `origin.json`; a server of built pages has to answer that too.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { delimiter } from 'node:path';
import type { Plugin, PreviewServer, ViteDevServer } from 'vite';
import { bundleAlgorithms } from '../../replay/bundle-algorithms.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { startOrigin } from '../../replay/origin/index.ts';
import type { OwnAlgorithm } from '../../replay/own-algorithm.ts';

export interface ReplayOriginOptions {
  /** Trace files and folders to choose from, in this order. */
  traces: readonly string[];
  /** Files with algorithms of the user's own. */
  algorithms: readonly string[];
}

/** What the page reads from `origin.json`. */
export interface OriginAddress {
  /** Of the origin's own server, without a slash at its end. The page's own server answers for the origin as well. */
  url: string;
  /** Of the user's own, as they are when the page is loaded. */
  algorithms?: readonly OwnAlgorithm[];
}

export function replayOrigin({ traces, algorithms }: ReplayOriginOptions): Plugin {
  const serve = async (server: ViteDevServer | PreviewServer): Promise<void> => {
    // A file that is none is told before anything is served.
    await bundleAlgorithms(algorithms);
    const origin = await startOrigin({ traces: readTraces(traces), acceptTraces: true });
    server.httpServer?.once('close', () => void origin.close());
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
      // A browser on another machine reaches this server only.
      if (!origin.handle(request, response)) next();
    });
  };
  return { name: 'leo-abr:replay-origin', configureServer: serve, configurePreviewServer: serve };
}

/** Files and folders from an environment variable, separated as in PATH. */
export function pathsIn(variable: string | undefined): string[] {
  return (variable ?? '').split(delimiter).filter((path) => path !== '');
}
