/**
 * Jest's environment for Node, without what files share: each file's AsyncLocalStorage would slow every promise of later
 * files, and Node's PerformanceObserver tells of earlier files' responses.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args) {
  storages.add(this);
  return run.apply(this, args);
};

// biome-ignore lint/style/noDefaultExport: Jest requires one.
export default class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.PerformanceObserver = undefined;
  }

  async teardown() {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
}
