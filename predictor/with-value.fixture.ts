/** For tests of what reads files. */

/** A copy of a file's content with one value in it replaced; `path`: keys and indices with dots between. */
export function withValue(content: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(content);
  const keys = path.split('.');
  const last = keys.pop()!;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the file has there
  let at = copy as any;
  for (const key of keys) at = at[key];
  at[last] = value;
  return copy;
}
