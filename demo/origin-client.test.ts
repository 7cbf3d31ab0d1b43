import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { OriginClient } from './origin-client.ts';

/** An origin that refuses requests by `isRefused`, and the ids of its sessions. */
async function origin(isRefused: (method: string, path: string) => boolean) {
  const sessions = new Set<string>();
  const bodies: string[] = [];
  let created = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    request.on('data', (chunk) => bodies.push(String(chunk)));
    const [, , id = ''] = url.split('/');
    const isWrong = isRefused(method, method === 'POST' ? `${url}/${created++}` : url);
    const newId = String(created - 1);
    if (method === 'POST' && !isWrong) sessions.add(newId);
    if (method === 'DELETE') sessions.delete(id);
    response.writeHead(isWrong ? 400 : 200).end(JSON.stringify(isWrong ? { error: 'too many' } : { id: newId }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { sessions, bodies, client: new OriginClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

let close = () => {};
afterEach(() => close());

const SPEC = { trace: 'a', scenario: 'hd-16', startSeconds: 0 };

describe('createSessions', () => {
  test('makes one for each player', async () => {
    const { sessions, client } = await origin(() => false);
    const made = await client.createSessions(SPEC, 3, 'own');
    expect(made.map(({ id }) => id).sort()).toEqual(['0', '1', '2']);
    await client.removeSessions(made.slice(1));
    expect([...sessions]).toEqual([made[0]!.id]);
  });

  test.each([
    ['own', undefined],
    ['shared', '0'],
  ] as const)('with a link of %s, the others name %s', async (sharing, link) => {
    const { bodies, client } = await origin(() => false);
    await client.createSessions(SPEC, 3, sharing);
    expect(bodies.map((body) => JSON.parse(body))).toEqual([SPEC, { ...SPEC, link }, { ...SPEC, link }]);
  });

  test.each([
    ['the origin refuses one', (method: string, path: string) => method === 'POST' && path.endsWith('/1')],
    ['it refuses the link of one', (_: string, path: string) => path === '/session/1/link'],
  ])('leaves no session if %s', async (_, isRefused) => {
    const { sessions, client } = await origin(isRefused);
    await expect(client.createSessions(SPEC, 3, 'own')).rejects.toThrow('too many');
    expect([...sessions]).toEqual([]);
  });
});
