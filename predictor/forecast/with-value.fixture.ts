/** For tests of parsers: a copy of JSON with one value replaced. `path`: keys and indices, separated by dots. */
export function withValue(content: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(content);
  const keys = path.split('.');
  const last = keys.pop()!;
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  let at = copy as any;
  for (const key of keys) at = at[key];
  at[last] = value;
  return copy;
}
