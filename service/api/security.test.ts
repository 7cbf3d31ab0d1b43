import { expect, test } from '@jest/globals';
import { isHostAllowed, isOriginAllowed, isTokenRight } from './security.ts';

const options = { allowedHosts: ['dish.lan'], allowedOrigins: ['https://player.example'] };

test.each<[string, (value: string | undefined) => boolean, (string | undefined)[], (string | undefined)[]]>([
  [
    'Host headers',
    (host) => isHostAllowed(host, options),
    ['localhost', 'localhost:8080', 'a.localhost', '127.0.0.1:1', '192.168.1.5:8080', '[::1]:8080', 'DISH.lan:1'],
    [
      ...[undefined, '', 'x'.repeat(300), '::1', 'localhost/evil', 'localhost@evil.example', 'dish.lan.evil.example'],
      ...['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example'],
    ],
  ],
  [
    'origins of pages',
    (origin) => isOriginAllowed(origin!, options),
    ['http://localhost:5173', 'https://localhost', 'http://127.0.0.1:1', 'http://[::1]:3', 'https://player.example'],
    [
      ...['null', '', 'http://player.example', 'https://player.example:444', 'https://player.example.evil'],
      ...['http://192.168.1.5', 'file://localhost', 'chrome-extension://localhost'],
      ...['http://localhost.evil.example', 'http://127.0.0.1.evil.example'],
    ],
  ],
])('checks %s', (_, isAllowed, allowed, refused) => {
  expect(allowed.filter((value) => !isAllowed(value))).toEqual([]);
  expect(refused.filter(isAllowed)).toEqual([]);
});

test('checks bearer tokens', () => {
  for (const right of ['Bearer secret', 'bearer secret']) expect(isTokenRight(right, 'secret')).toBe(true);
  const wrong = [undefined, '', 'secret', 'Bearer ', 'Bearer', 'Bearer secret2', 'Bearer secre', 'Basic secret'];
  for (const one of wrong) expect(isTokenRight(one, 'secret')).toBe(false);
});
