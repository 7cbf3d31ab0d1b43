import { describe, expect, test } from '@jest/globals';
import { needsTls } from '../predictor/service-client/needs-tls.ts';
import { isNamed, parseServiceAddress } from './service-address.ts';

describe('parseServiceAddress', () => {
  test.each([
    ['', ''],
    ['  ', ''],
    ['http://127.0.0.1:8790', 'http://127.0.0.1:8790'],
    [' http://127.0.0.1:8790/ ', 'http://127.0.0.1:8790'],
    ['127.0.0.1:8790', 'http://127.0.0.1:8790'],
    ['localhost:8790', 'http://localhost:8790'],
    ['[::1]:8790', 'http://[::1]:8790'],
    ['https://Dish.example/leo/', 'https://dish.example/leo'],
    ['dish.example', 'http://dish.example'],
  ])('%j is %j', (typed, address) => {
    expect(parseServiceAddress(typed)).toBe(address);
    expect(parseServiceAddress(address)).toBe(address);
  });

  test.each([
    'http://',
    'ftp://dish',
    'javascript:alert(1)',
    'a b',
    'http://dish?x=1',
    'http://dish#x',
    'http://me:pw@dish',
    'dish:99999',
  ])('%j is no address', (typed) => {
    expect(() => parseServiceAddress(typed)).toThrow(
      `expected the address of a prediction service like http://127.0.0.1:8790, got “${typed}”`,
    );
  });
});

test.each([
  ['http://192.168.1.5:8790', 'https://player.example/', true],
  ['http://dish.local:8790', 'https://player.example/', true],
  ['http://127.0.0.1:8790', 'https://player.example/', false],
  ['http://[::1]:8790', 'https://player.example/', false],
  ['http://localhost:8790', 'https://player.example/', false],
  ['https://192.168.1.5:8790', 'https://player.example/', false],
  ['http://192.168.1.5:8790', 'http://localhost:5173/', false],
])('asking %s from %s: needs TLS %p', (address, pageUrl, needs) => {
  expect(needsTls(address, pageUrl)).toBe(needs);
});

test('only names need --allow-host, not IP addresses or this machine', () => {
  expect(['http://dish.local:8790', 'https://dish.example'].map(isNamed)).toEqual([true, true]);
  expect(['http://127.0.0.1', 'http://10.0.0.7:8790', 'http://[fe80::1]', 'http://localhost:1'].map(isNamed)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
