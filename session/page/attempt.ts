/** Reads what a page may lack or block, such as its storage. */

/** The result of `action`; undefined if it throws. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
