/**
 * Vite plugin: runs the paced origin (replay/origin) beside the dev or preview server and tells the page where it is.
 * Node only. The page asks for `origin.json`; a server of built pages has to answer that too.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { delimiter } from 'node:path';
import type { Plugin, PreviewServer, ViteDevServer } from 'vite';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { startOrigin } from '../../replay/origin/index.ts';

export interface ReplayOriginOptions {
  /** Trace files and folders to choose from, in this order. */
  traces: readonly string[];
}

/** What the page reads from `origin.json`. */
export interface OriginAddress {
  /** Of the origin's own server, without a slash at its end. The page's own server answers for the origin as well. */
  url: string;
}

export function replayOrigin({ traces }: ReplayOriginOptions): Plugin {
  const serve = async (server: ViteDevServer | PreviewServer): Promise<void> => {
    const origin = await startOrigin({ traces: readTraces(traces), acceptTraces: true });
    server.httpServer?.once('close', () => void origin.close());
    server.config.logger.info(`origin at ${origin.url}`, { timestamp: true });
    const address: OriginAddress = { url: origin.url };
    server.middlewares.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      if (request.url?.split('?')[0] === '/origin.json') {
        response.setHeader('content-type', 'application/json');
        response.setHeader('cache-control', 'no-store');
        response.end(JSON.stringify(address));
        return;
      }
      // A browser on another machine reaches this server only.
      if (!origin.handle(request, response)) next();
    });
  };
  return { name: 'leo-abr:replay-origin', configureServer: serve, configurePreviewServer: serve };
}

/** Trace files and folders from an environment variable, separated as in PATH. */
export function tracePaths(variable: string | undefined): string[] {
  return (variable ?? '').split(delimiter).filter((path) => path !== '');
}
