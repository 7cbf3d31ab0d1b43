/** Builds protobufjs's JSON definitions from a short notation, so that no `.proto` file is needed at run time. */

/** By name: `[number, type]`; `type[]` if repeated, which is packed for numbers. */
export type Fields = Readonly<Record<string, readonly [number, string]>>;

const PACKED = ['float', 'double', 'int32', 'uint32', 'int64', 'uint64', 'bool'];

/** A message; `oneofs` maps the name of each `oneof` to the names of its fields. */
export function message(
  fields: Fields,
  oneofs: Record<string, readonly string[]> = {},
): { fields: object; oneofs: object } {
  const json = Object.entries(fields).map(([name, [id, short]]): [string, object] => {
    const type = short.replace('[]', '');
    if (type === short) return [name, { type, id }];
    return [name, { type, id, rule: 'repeated', ...(PACKED.includes(type) && { options: { packed: true } }) }];
  });
  return {
    fields: Object.fromEntries(json),
    oneofs: Object.fromEntries(Object.entries(oneofs).map(([name, oneof]) => [name, { oneof }])),
  };
}

export function inPackage(name: string, nested: Record<string, object>): object {
  return name
    .split('.')
    .reverse()
    .reduce<object>((inner, part) => ({ nested: { [part]: inner } }), { nested });
}
