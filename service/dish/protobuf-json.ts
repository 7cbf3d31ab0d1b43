/** Protocol-buffer definitions as protobufjs's JSON, in a short form; no `.proto` file has to be found at run time. */

export interface FieldJson {
  type: string;
  id: number;
  rule?: 'repeated';
  options?: { packed: true };
}

/** `[number, type]`; `type[]` for repeated ones, which are packed where they are numbers. */
export type ShortField = readonly [number, string];

const PACKED = ['float', 'double', 'int32', 'uint32', 'int64', 'uint64', 'bool'];

/** A message; `oneofs` maps the name of each `oneof` to the names of its fields. */
export function message(
  fields: Record<string, ShortField>,
  oneofs: Record<string, readonly string[]> = {},
): { fields: object; oneofs: object } {
  const json = Object.entries(fields).map(([name, [id, short]]): [string, FieldJson] => {
    const type = short.replace('[]', '');
    if (type === short) return [name, { type, id }];
    return [name, { type, id, rule: 'repeated', ...(PACKED.includes(type) && { options: { packed: true } }) }];
  });
  return {
    fields: Object.fromEntries(json),
    oneofs: Object.fromEntries(Object.entries(oneofs).map(([name, oneof]) => [name, { oneof }])),
  };
}

/** Definitions below a package's name. */
export function inPackage(name: string, nested: Record<string, object>): object {
  return name
    .split('.')
    .reverse()
    .reduce<object>((inner, part) => ({ nested: { [part]: inner } }), { nested });
}
