/** For tests: HTTP servers on free ports, which close after the test, and requests to servers. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';

export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

export async function serving(answer: Answer) {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** Sends headers, methods and targets that `fetch` forbids or normalises. */
export async function sendRaw(url: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { hostname, port } = new URL(url);
  const sent = request({ hostname, port, path, headers, method }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.resume().statusCode, headers: response.headers };
}
