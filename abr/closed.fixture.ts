/** For tests: whatever a test opens is closed after it. */

import { afterEach } from '@jest/globals';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

export function closedAfterTest<One extends { close(): unknown }>(one: One): One {
  opened.push(one);
  return one;
}
