/** The value of a key; made, and put into `values`, at its first use. */
export function remembered<Key, Value>(
  values: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}
