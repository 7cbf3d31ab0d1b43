/**
 * Finds where a dish's status holds its attitude, by asking the dish: its server describes itself (gRPC reflection). Only
 * numbers are taken from the description, no names: whoever answers there is not known, and definitions become code.
 */

import { type Client, type ClientDuplexStream, credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { fromJSON, type MessageTypeDefinition } from '@grpc/proto-loader';
import { type AttitudeField, DEVICE_PACKAGE, STATUS_MESSAGE, STATUS_NUMBERS } from './device-api.ts';
import { inPackage, message } from './protobuf-json.ts';

const VERSIONS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'];
const REFLECTION = {
  ServerReflection: {
    methods: {
      ServerReflectionInfo: {
        requestType: 'Request',
        requestStream: true,
        responseType: 'Response',
        responseStream: true,
      },
    },
  },
  Request: message({ file_containing_symbol: [4, 'string'] }),
  Response: message({ file_descriptor_response: [4, 'Files'] }),
  Files: message({ file_descriptor_proto: [1, 'bytes[]'] }),
};
/** Of `google/protobuf/descriptor.proto`, what is looked at. */
const DESCRIPTOR = {
  File: message({ package: [2, 'string'], message_type: [4, 'Message[]'] }),
  Message: message({ name: [1, 'string'], field: [2, 'Field[]'] }),
  Field: message({ name: [1, 'string'], number: [3, 'int32'], type: [5, 'int32'], type_name: [6, 'string'] }),
};
/** Numbers of types in descriptors. */
const DOUBLE = 1;
const FLOAT = 2;
/** Of the parts: `q_scalar` or `w`, `q_x` ... */
const PART_NAMES = { w: /^(q_?)?(scalar|w)$/i, x: /^(q_?)?x$/i, y: /^(q_?)?y$/i, z: /^(q_?)?z$/i };
const GREATEST_NUMBER = 2 ** 29 - 1;

interface Described {
  file_descriptor_response?: { file_descriptor_proto?: Uint8Array[] };
}

interface DescribedFile {
  package?: string;
  message_type?: DescribedMessage[];
}

interface DescribedMessage {
  name?: string;
  field?: { name?: string; number?: number; type?: number; type_name?: string }[];
}

/** Undefined where the dish does not describe itself, or has no attitude in its status. Never rejects. */
export async function learnAttitudeField(address: string, deadlineMs: number): Promise<AttitudeField | undefined> {
  for (const version of VERSIONS) {
    const files = await described(address, version, deadlineMs).catch(() => []);
    const field = attitudeIn(files);
    if (field !== undefined) return field;
  }
  return undefined;
}

/** The field in descriptions of files (`FileDescriptorProto`). */
export function attitudeIn(files: readonly Uint8Array[]): AttitudeField | undefined {
  const definitions = fromJSON(inPackage('described', DESCRIPTOR) as Parameters<typeof fromJSON>[0]);
  const file = definitions['described.File'] as unknown as MessageTypeDefinition<object, DescribedFile>;
  const messages = new Map<string, DescribedMessage>();
  for (const bytes of files) {
    try {
      const { package: ofPackage = '', message_type = [] } = file.deserialize(Buffer.from(bytes));
      for (const one of message_type) messages.set(`${ofPackage}.${one.name ?? ''}`, one);
    } catch {
      // Another file may tell.
    }
  }
  for (const { number, type_name = '' } of messages.get(STATUS_MESSAGE)?.field ?? []) {
    // Whole names begin with a dot; others are of the same package.
    const of = type_name.startsWith('.') ? type_name.slice(1) : `${DEVICE_PACKAGE}.${type_name}`;
    const quaternion = quaternionOf(messages.get(of));
    if (quaternion !== undefined && isNumber(number) && !STATUS_NUMBERS.includes(number)) {
      return { number, name: 'attitude', ...quaternion };
    }
  }
  return undefined;
}

/** A message of four numbers of one type, called like the parts of a quaternion. */
function quaternionOf(described: DescribedMessage | undefined): Pick<AttitudeField, 'parts' | 'type'> | undefined {
  const fields = described?.field ?? [];
  const part = (pattern: RegExp) => {
    const { number, type } = fields.find((field) => pattern.test(field.name ?? '')) ?? {};
    return isNumber(number) ? { number, type } : undefined;
  };
  const [w, x, y, z] = Object.values(PART_NAMES).map(part);
  if (w === undefined || x === undefined || y === undefined || z === undefined) return undefined;
  const { type } = w;
  const isOneType = [x, y, z].every((other) => other.type === type);
  const areDistinct = new Set([w, x, y, z].map(({ number }) => number)).size === 4;
  if (!isOneType || !areDistinct || (type !== FLOAT && type !== DOUBLE)) return undefined;
  const parts = {
    w: { number: w.number, name: 'w' },
    x: { number: x.number, name: 'x' },
    y: { number: y.number, name: 'y' },
    z: { number: z.number, name: 'z' },
  };
  return { parts, type: type === FLOAT ? 'float' : 'double' };
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined && value >= 1 && value <= GREATEST_NUMBER;
}

function described(address: string, version: string, deadlineMs: number): Promise<Uint8Array[]> {
  const definitions = fromJSON(inPackage(version, REFLECTION) as Parameters<typeof fromJSON>[0]);
  const inner = version
    .split('.')
    .reduce<unknown>((outer, part) => (outer as Record<string, unknown>)[part], loadPackageDefinition(definitions));
  const { ServerReflection } = inner as { ServerReflection: typeof Client };
  const client = new ServerReflection(address, credentials.createInsecure()) as Client & {
    ServerReflectionInfo(options: { deadline: number }): ClientDuplexStream<object, Described>;
  };
  return new Promise<Uint8Array[]>((resolve, reject) => {
    const stream = client.ServerReflectionInfo({ deadline: Date.now() + deadlineMs });
    stream.on('data', ({ file_descriptor_response }: Described) => {
      resolve(file_descriptor_response?.file_descriptor_proto ?? []);
      stream.end();
    });
    stream.on('error', reject);
    stream.on('end', () => resolve([]));
    stream.write({ file_containing_symbol: STATUS_MESSAGE });
  }).finally(() => client.close());
}
