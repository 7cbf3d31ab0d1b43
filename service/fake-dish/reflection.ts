/**
 * gRPC server reflection (v1 and v1alpha), so that generic clients (grpcurl, grpc-tools for the dish) can ask what the
 * fake dish speaks, as they ask a real one.
 */

import type { Server, ServerDuplexStream, ServiceDefinition } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { fromJSON, type PackageDefinition } from '@grpc/proto-loader';
import { inPackage, message } from '../dish/protobuf-json.ts';

const VERSIONS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'];

const REQUEST = {
  file_by_filename: [3, 'string'],
  file_containing_symbol: [4, 'string'],
  file_containing_extension: [5, 'ExtensionRequest'],
  all_extension_numbers_of_type: [6, 'string'],
  list_services: [7, 'string'],
} as const;
const RESPONSE = {
  file_descriptor_response: [4, 'FileDescriptorResponse'],
  all_extension_numbers_response: [5, 'ExtensionNumberResponse'],
  list_services_response: [6, 'ListServiceResponse'],
  error_response: [7, 'ErrorResponse'],
} as const;

const MESSAGES = {
  ServerReflection: {
    methods: {
      ServerReflectionInfo: {
        requestType: 'ServerReflectionRequest',
        requestStream: true,
        responseType: 'ServerReflectionResponse',
        responseStream: true,
      },
    },
  },
  ServerReflectionRequest: message({ host: [1, 'string'], ...REQUEST }, { message_request: Object.keys(REQUEST) }),
  ServerReflectionResponse: message(
    { valid_host: [1, 'string'], original_request: [2, 'ServerReflectionRequest'], ...RESPONSE },
    { message_response: Object.keys(RESPONSE) },
  ),
  ExtensionRequest: message({ containing_type: [1, 'string'], extension_number: [2, 'int32'] }),
  FileDescriptorResponse: message({ file_descriptor_proto: [1, 'bytes[]'] }),
  ExtensionNumberResponse: message({ base_type_name: [1, 'string'], extension_number: [2, 'int32[]'] }),
  ListServiceResponse: message({ service: [1, 'ServiceResponse[]'] }),
  ServiceResponse: message({ name: [1, 'string'] }),
  ErrorResponse: message({ error_code: [1, 'int32'], error_message: [2, 'string'] }),
};

interface ReflectionRequest {
  host?: string;
  file_by_filename?: string;
  file_containing_symbol?: string;
  list_services?: string;
}

/** Adds reflection of `described` to a server. */
export function addReflection(server: Server, described: PackageDefinition): void {
  const services = [...VERSIONS.map((version) => `${version}.ServerReflection`)];
  const files: Buffer[] = [];
  for (const [name, definition] of Object.entries(described)) {
    if ('format' in definition) {
      if (files.length === 0) files.push(...(definition as { fileDescriptorProtos: Buffer[] }).fileDescriptorProtos);
    } else services.push(name);
  }
  const symbols = Object.keys(described);
  const answer = (request: ReflectionRequest): object => {
    const { list_services, file_containing_symbol, file_by_filename } = request;
    if (list_services !== undefined) return { list_services_response: { service: services.map((name) => ({ name })) } };
    // All is in one file, whose name clients know from its descriptor.
    const isKnown =
      file_by_filename !== undefined ||
      symbols.some((name) => file_containing_symbol === name || file_containing_symbol?.startsWith(`${name}.`));
    if (isKnown) return { file_descriptor_response: { file_descriptor_proto: files } };
    const error_message = `expected one of ${symbols.join(', ')}`;
    return { error_response: { error_code: status.NOT_FOUND, error_message } };
  };
  for (const version of VERSIONS) {
    const definitions = fromJSON(inPackage(version, MESSAGES) as Parameters<typeof fromJSON>[0], { enums: String });
    const service = definitions[`${version}.ServerReflection`] as unknown as ServiceDefinition;
    server.addService(service, {
      ServerReflectionInfo(stream: ServerDuplexStream<ReflectionRequest, object>) {
        stream.on('data', (request: ReflectionRequest) => {
          stream.write({ valid_host: request.host ?? '', original_request: request, ...answer(request) });
        });
        stream.on('end', () => stream.end());
        stream.on('error', () => stream.end());
      },
    });
  }
}
