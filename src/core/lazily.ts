/** Adds a property that is computed when it is first read, or copied. */
export function lazily<T extends object, K extends string, V>(target: T, key: K, compute: () => V): T & Record<K, V> {
  const define = (how: PropertyDescriptor) =>
    Object.defineProperty(target, key, { enumerable: true, configurable: true, ...how });
  define({
    get() {
      const value = compute();
      define({ value });
      return value;
    },
  });
  return target as T & Record<K, V>;
}
