import { expect, test } from '@jest/globals';
import { serving } from '../../replay/serving.fixture.ts';
import { OriginClient } from './origin-client.ts';

/** A client of an origin that refuses requests by `isRefused`. */
async function clientOf(isRefused: (path: string, created: number) => boolean) {
  let created = 0;
  const { url } = await serving(({ method, url = '' }, response) => {
    const isWrong = isRefused(url, created);
    const id = String(method === 'POST' ? created++ : 0);
    response.writeHead(isWrong ? 400 : 200).end(JSON.stringify(isWrong ? { error: 'too many' } : { id }));
  });
  return new OriginClient(url);
}

const SPEC = { trace: 'a', scenario: 'hd-16', startSeconds: 0 };

test.each([
  ['the origin refuses one', (path: string, created: number) => path === '/session' && created === 1],
  ['it refuses the link of one', (path: string) => path === '/session/1/link'],
])('has the reason if %s', async (_, isRefused) => {
  const client = await clientOf(isRefused);
  await expect(client.createSessions(SPEC, 3)).rejects.toThrow('too many');
});
