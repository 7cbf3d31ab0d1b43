import { expect, test } from '@jest/globals';
import { disagreement } from './protocol.ts';

const range = (oldest: number, newest: number) => ({ oldest, newest });

test.each([
  [range(1, 1), range(1, 1)],
  [range(1, 2), range(1, 1)],
  [range(1, 2), undefined],
  [range(1, 1), range(1, 3)],
  [range(2, 4), range(1, 2)],
  // Neither is usable, so the other requests decide.
  [range(1, 1), {} as { oldest: number; newest: number }],
])('a client with %j and a service with %j agree', (client, service) => {
  expect(disagreement(client, service)).toBeUndefined();
});

test.each([
  [range(1, 1), range(2, 3), 'update the client: client version 1, service version 3'],
  [range(2, 3), range(1, 1), 'update the service: client version 3, service version 1'],
  [range(2, 3), undefined, 'update the service: client version 3, service version 1'],
])('a client with %j and a service with %j do not agree', (client, service, message) => {
  expect(disagreement(client, service)).toBe(message);
});
