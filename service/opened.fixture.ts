/** For tests: services, closed after the test. */

import { closedAfterTest } from '../abr/closed.fixture.ts';
import { type RunningService, type ServiceOptions, startService } from './start-service.ts';

export const startForTest = async (options: Partial<ServiceOptions> = {}): Promise<RunningService> =>
  closedAfterTest(await startService({ version: '0', port: 0, ...options }));
