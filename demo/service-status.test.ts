import { expect, test } from '@jest/globals';
import { serviceStatus } from './service-status.ts';

type Situation = Parameters<typeof serviceStatus>[0];
type State = Situation['clients'][number]['state'];

const playing = (...states: Partial<State>[]): Partial<Situation> => ({
  clients: states.map((state) => ({
    state: { connection: 'connected', verdict: 'trusted', ageSeconds: 0.4, share: 1, ...state },
  })),
});

test.each<[Partial<Situation>, label: string, details: string]>([
  [{ isChosen: false }, 'None', 'MPC-L uses its own forecasts.'],
  [{ failure: 'no session "7"' }, 'Not started', 'no session "7"'],
  [{ hasUser: false }, 'Not asked', 'only MPC-L uses a service'],
  [{}, 'Not asked', 'no player plays'],
  [playing({}, { connection: 'waiting', detail: 'it is gone' }), 'No answer', 'it is gone'],
  [playing({ connection: 'refused' }), 'No answer', 'the connection failed'],
  [playing({ verdict: 'contradicted' }), 'Not believed', 'did not come true'],
  [playing({}, { verdict: 'distrusted' }), 'Not believed', 'did not come true'],
  [playing({ share: 0.5 }), 'Not used', 'several players'],
  [playing({ verdict: 'not-yet' }), 'Not yet', 'until the service knows this link'],
  [playing({}, { ageSeconds: 3 }), 'Used', 'the newest 3 s old'],
])('%j', (situation, label, details) => {
  const status = serviceStatus({ isChosen: true, hasUser: true, clients: [], failure: undefined, ...situation });
  expect(status).toMatchObject({ label, details: expect.stringContaining(details) });
});
