/** The origin's HTTP server. Node only. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { pipeline, Readable, type Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { Origin, type OriginOptions } from '../origin.ts';
import type { ReplaySession } from '../session.ts';
import { requestPath } from './static-site.ts';

export interface ServerOptions extends Omit<OriginOptions, 'folder'> {
  /** Default: a free port. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** A listening socket, possibly in another network namespace. Replaces `port` and `host`. */
  socket?: NetServer;
  /** Responds to paths that the origin does not own; returns whether it responded. */
  fallback?(request: IncomingMessage, response: ServerResponse): boolean;
}

export type RunningOrigin = Awaited<ReturnType<typeof startOrigin>>;

/** A player with a full buffer waits for less, so no request is sent on a connection that is closing. */
const KEEP_ALIVE_MS = 10 * 60_000;

export async function startOrigin(options: ServerOptions = {}) {
  const { port = 0, host = '127.0.0.1', socket, fallback } = options;
  const origin = new Origin(options);
  /** Responds to `/session...` and `/traces`; returns false for any other path. */
  const handle = (request: IncomingMessage, response: ServerResponse): boolean => {
    const isOwn = origin.owns(requestPath(request));
    if (isOwn) void answer(origin, request, response);
    return isOwn;
  };
  const server: Server = createServer({ noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    try {
      if (!handle(request, response) && !fallback?.(request, response)) void answer(origin, request, response);
    } catch (error) {
      fail(response, error);
    }
  });
  // No limit: the trace determines the duration of downloads.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (socket === undefined) server.listen(port, host, resolve);
    else server.listen(socket, resolve);
  });
  const { port: listening, family, address } = server.address() as AddressInfo;
  const name = socket === undefined ? host : address;
  /** Without a trailing slash. */
  const url = `http://${family === 'IPv6' ? `[${name}]` : name}:${listening}`;
  return Object.assign(origin, {
    ...{ url, port: listening, handle },
    manifestUrl: ({ id }: ReplaySession) => `${url}/session/${id}/manifest.mpd`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function answer(origin: Origin, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const abort = new AbortController();
  // When the connection ends, a pipelined response emits no `close`, but its request does.
  request.once('close', () => abort.abort());
  try {
    const { method = 'GET', url = '' } = request;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const target = new URL('http://origin');
    target.pathname = requestPath(request);
    target.search = /\?([^#]*)/.exec(url)?.[1] ?? '';
    const answered = await origin.fetch(
      new Request(target, {
        method,
        headers: request.headers as Record<string, string>,
        signal: abort.signal,
        ...(hasBody && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
      }),
    );
    await send(answered, response, abort.signal);
  } catch (error) {
    fail(response, error);
  }
}

/** Writes a response. Reads each piece once the piece before has been written to the connection. */
async function send({ status, headers, body }: Response, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const out = beginBody(response, status, Object.fromEntries(headers));
  const reader = body?.getReader();
  signal.addEventListener('abort', () => void reader?.cancel());
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) break;
    await new Promise<unknown>((resolve) => out.write(value, resolve));
  }
  out.end();
}

/** Sends the head of a response and returns the stream for its body, which its delivery (`../delivery.ts`) frames. */
function beginBody(response: ServerResponse, status: number, headers: Record<string, string>): Writable {
  const { socket } = response;
  if (headers['connection'] === 'close' && socket !== null) {
    // Node writes HTTP/1.1 responses only.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.0 ${status} OK\r\n${lines.join('')}\r\n`);
    return socket;
  }
  response.writeHead(status, headers);
  if (headers['content-encoding'] !== 'gzip') return response;
  // Stored blocks, because padding would compress to almost nothing.
  const gzip = createGzip({ level: constants.Z_NO_COMPRESSION, flush: constants.Z_SYNC_FLUSH });
  // `pipeline` ends both streams if the client disconnects.
  pipeline(gzip, response, () => {});
  return gzip;
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(500, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
  response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
}
