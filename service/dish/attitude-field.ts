/**
 * Finds the field of a dish's status that holds its attitude, through gRPC reflection. It takes only numbers from the
 * description, no names: protobufjs compiles definitions to code, and the server that answers is not trusted.
 */

import {
  type Client,
  type ClientDuplexStream,
  credentials,
  makeClientConstructor,
  type ServiceDefinition,
} from '@grpc/grpc-js';
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
/** The part of `google/protobuf/descriptor.proto` that is read. */
const DESCRIPTOR = {
  File: message({ package: [2, 'string'], message_type: [4, 'Message[]'] }),
  Message: message({ name: [1, 'string'], field: [2, 'Field[]'] }),
  Field: message({ name: [1, 'string'], number: [3, 'int32'], type: [5, 'int32'], type_name: [6, 'string'] }),
};
/** Type numbers in descriptors. */
const DOUBLE = 1;
const FLOAT = 2;
/** Names of w, x, y and z: `q_scalar` or `w`, `q_x` ... */
const PART_NAMES = [/^(q_?)?(scalar|w)$/i, /^(q_?)?x$/i, /^(q_?)?y$/i, /^(q_?)?z$/i];
/** Protocol buffers' limit for field numbers. */
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

/** Undefined if the dish does not support reflection or its status has no attitude. Never rejects. */
export async function learnAttitudeField(address: string, deadlineMs: number): Promise<AttitudeField | undefined> {
  for (const version of VERSIONS) {
    const files = await described(address, version, deadlineMs).catch(() => []);
    const field = attitudeIn(files);
    if (field !== undefined) return field;
  }
  return undefined;
}

/** `files`: encoded `FileDescriptorProto`s. */
export function attitudeIn(files: readonly Uint8Array[]): AttitudeField | undefined {
  const definitions = fromJSON(inPackage('described', DESCRIPTOR) as Parameters<typeof fromJSON>[0]);
  const file = definitions['described.File'] as unknown as MessageTypeDefinition<object, DescribedFile>;
  const messages = new Map<string, DescribedMessage>();
  for (const bytes of files) {
    try {
      const { package: ofPackage = '', message_type = [] } = file.deserialize(Buffer.from(bytes));
      for (const one of message_type) messages.set(`${ofPackage}.${one.name ?? ''}`, one);
    } catch {
      // Another file may hold the message.
    }
  }
  for (const { number, type_name = '' } of messages.get(STATUS_MESSAGE)?.field ?? []) {
    // Full names begin with a dot; others are relative to the package.
    const of = type_name.startsWith('.') ? type_name.slice(1) : `${DEVICE_PACKAGE}.${type_name}`;
    const quaternion = quaternionOf(messages.get(of));
    if (quaternion !== undefined && isNumber(number) && !STATUS_NUMBERS.includes(number)) {
      return { number, ...quaternion };
    }
  }
  return undefined;
}

/** Undefined unless the message has four fields of one floating-point type with the names of a quaternion's parts. */
function quaternionOf(described: DescribedMessage | undefined): Pick<AttitudeField, 'parts' | 'type'> | undefined {
  const fields = PART_NAMES.map((pattern) => described?.field?.find(({ name = '' }) => pattern.test(name)));
  const type = fields[0]?.type;
  if ((type !== FLOAT && type !== DOUBLE) || fields.some((field) => field?.type !== type)) return undefined;
  const [w, x, y, z] = fields.map((field) => field?.number);
  if (!isNumber(w) || !isNumber(x) || !isNumber(y) || !isNumber(z) || new Set([w, x, y, z]).size < 4) return undefined;
  return { parts: { w, x, y, z }, type: type === FLOAT ? 'float' : 'double' };
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined && value >= 1 && value <= GREATEST_NUMBER;
}

function described(address: string, version: string, deadlineMs: number): Promise<Uint8Array[]> {
  const definitions = fromJSON(inPackage(version, REFLECTION) as Parameters<typeof fromJSON>[0]);
  const service = definitions[`${version}.ServerReflection`] as ServiceDefinition;
  const ServerReflection = makeClientConstructor(service, 'ServerReflection');
  const client = new ServerReflection(address, credentials.createInsecure()) as unknown as Client & {
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
