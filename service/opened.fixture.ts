/** Closes services and other resources after the test that opened them. */

import { afterEach } from '@jest/globals';
import { type RunningService, type ServiceOptions, startService } from './start-service.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

export function closedAfterTest<One extends { close(): unknown }>(one: One): One {
  opened.push(one);
  return one;
}

export const startForTest = async (options: Partial<ServiceOptions> = {}): Promise<RunningService> =>
  closedAfterTest(await startService({ version: '0', port: 0, ...options }));
