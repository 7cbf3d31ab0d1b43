/** Adds a property that is computed when it is first read, or copied. */
export function lazily<T extends object, K extends string, V>(target: T, key: K, compute: () => V): T & Record<K, V> {
  let value: V | undefined;
  const get = () => {
    value ??= compute();
    return value;
  };
  return Object.defineProperty(target, key, { enumerable: true, get }) as T & Record<K, V>;
}
