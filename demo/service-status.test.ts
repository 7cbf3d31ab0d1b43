import { expect, test } from '@jest/globals';
import { serviceStatus } from './service-status.ts';

type State = NonNullable<Parameters<typeof serviceStatus>[0]>;

test.each<[Partial<State>, text: string]>([
  [{ connection: 'waiting', detail: 'it is gone' }, 'No answer: it is gone.'],
  [{ connection: 'refused' }, 'No answer: the connection failed.'],
  [{ verdict: 'contradicted' }, 'Not believed'],
  [{ verdict: 'distrusted' }, 'Not believed'],
  [{ share: 0.5 }, 'Not used: several players'],
  [{ verdict: 'not-yet' }, 'Not used until the service knows this link'],
  [{ ageSeconds: 3 }, 'Used, the newest 3 s old'],
])('%j', (state, text) => {
  expect(serviceStatus({ connection: 'connected', verdict: 'trusted', ageSeconds: 0.4, share: 1, ...state })).toContain(
    text,
  );
});

test('a service that could not be started, and none', () => {
  expect(serviceStatus(undefined, 'no session "7"')).toBe('Not started: no session "7".');
  expect(serviceStatus(undefined)).toBe('');
});
