/** The steps by which the plugin leaves a player as it found it. */
export class UndoList {
  #steps: (() => void)[] = [];

  add(...steps: (() => void)[]): void {
    this.#steps.push(...steps);
  }

  /** Takes all steps, each once. */
  run(): void {
    for (const step of this.#steps.splice(0)) {
      try {
        step();
      } catch {
        // A destroyed player throws: there is nothing to restore.
      }
    }
  }
}
