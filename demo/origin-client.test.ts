import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { OriginClient } from './origin-client.ts';

/** An origin that refuses requests by `isRefused`, and the bodies that it got. */
async function origin(isRefused: (path: string, created: number) => boolean) {
  const bodies: string[] = [];
  let created = 0;
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    request.on('data', (chunk) => bodies.push(String(chunk)));
    const isWrong = isRefused(url, created);
    const id = String(method === 'POST' ? created++ : 0);
    response.writeHead(isWrong ? 400 : 200).end(JSON.stringify(isWrong ? { error: 'too many' } : { id }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { bodies, client: new OriginClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

let close = () => {};
afterEach(() => close());

const SPEC = { trace: 'a', scenario: 'hd-16', startSeconds: 0 };

test.each([
  ['the origin refuses one', (path: string, created: number) => path === '/session' && created === 1],
  ['it refuses the link of one', (path: string) => path === '/session/1/link'],
])('has the reason if %s', async (_, isRefused) => {
  const { client } = await origin(isRefused);
  await expect(client.createSessions(SPEC, 3, 'own')).rejects.toThrow('too many');
});
