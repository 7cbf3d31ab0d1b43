import { expect, test } from '@jest/globals';
import { fetchAhead } from './fetch-ahead.ts';

const WASM = 'https://page.example/ort.wasm';

function scopeWith(answer: (url: string) => Promise<string>) {
  const asked: string[] = [];
  const fetch = (url: string) => {
    asked.push(url);
    return answer(url);
  };
  return { asked, scope: { fetch: fetch as unknown as typeof globalThis.fetch } };
}

test('the next fetch of the URL gets the early response, once; others are not affected', async () => {
  const { asked, scope } = scopeWith(async (url) => `${url} ${asked.length}`);
  const { fetch } = scope;
  fetchAhead(scope, WASM);
  expect(asked).toEqual([WASM]);
  expect(await scope.fetch('https://page.example/model.onnx')).toBe('https://page.example/model.onnx 2');
  expect(await scope.fetch(WASM, { credentials: 'same-origin' })).toBe(`${WASM} 1`);
  expect(scope.fetch).toBe(fetch);
  expect(await scope.fetch(WASM)).toBe(`${WASM} 3`);
});

test('the next fetch gets a failure, which is not reported before', async () => {
  const { scope } = scopeWith(() => Promise.reject(new TypeError('no network')));
  fetchAhead(scope, WASM);
  await new Promise((resolve) => setTimeout(resolve));
  await expect(scope.fetch(WASM)).rejects.toThrow('no network');
});
