/**
 * Writes ONNX files: as much of onnx.proto as small networks need, in the wire format of protocol buffers. Numbers behind
 * the names of messages are those of their fields there (github.com/onnx/onnx, onnx/onnx.proto).
 */

const IR_VERSION = 8;
/** Of the operators: LeakyRelu is of 16, Gemm, MatMul, Slice, Mean of 13, Softplus of 1. */
const OPSET_VERSION = 17;
const FLOAT = 1;
const INT64 = 7;

export type Attribute = number | { float: number };

export interface OnnxNode {
  type: string;
  inputs: string[];
  /** Its only one. */
  output: string;
  /** Whole numbers unless they say otherwise. */
  attributes?: Record<string, Attribute>;
}

export interface OnnxTensor {
  name: string;
  shape: number[];
  values: Float32Array | BigInt64Array;
}

/** A float32 tensor that goes in or comes out; a dimension that is a name may have any size. */
export interface OnnxValue {
  name: string;
  shape: (number | string)[];
}

export interface OnnxModel {
  producer: { name: string; version: string };
  description: string;
  metadata: Record<string, string>;
  nodes: OnnxNode[];
  constants: OnnxTensor[];
  inputs: OnnxValue[];
  outputs: OnnxValue[];
}

/** The bytes of the file; the same model gives the same bytes. */
export function onnxFile(model: OnnxModel): Uint8Array {
  const { producer, description, metadata, nodes, constants, inputs, outputs } = model;
  const graph = message(
    ...nodes.map((node) => bytes(1, nodeProto(node))),
    bytes(2, producer.name),
    ...constants.map((tensor) => bytes(5, tensorProto(tensor))),
    ...inputs.map((value) => bytes(11, valueProto(value))),
    ...outputs.map((value) => bytes(12, valueProto(value))),
  );
  return message(
    int(1, IR_VERSION),
    bytes(2, producer.name),
    bytes(3, producer.version),
    bytes(6, description),
    bytes(7, graph),
    bytes(8, message(bytes(1, ''), int(2, OPSET_VERSION))),
    ...Object.entries(metadata).map(([key, value]) => bytes(14, message(bytes(1, key), bytes(2, value)))),
  );
}

function nodeProto({ type, inputs, output, attributes = {} }: OnnxNode): Uint8Array {
  return message(
    ...inputs.map((name) => bytes(1, name)),
    bytes(2, output),
    bytes(3, output),
    bytes(4, type),
    ...Object.entries(attributes).map(([name, value]) =>
      bytes(
        5,
        typeof value === 'number'
          ? message(bytes(1, name), int(3, value), int(20, 2))
          : message(bytes(1, name), float(2, value.float), int(20, 1)),
      ),
    ),
  );
}

function tensorProto({ name, shape, values }: OnnxTensor): Uint8Array {
  const isFloat = values instanceof Float32Array;
  const raw = new Uint8Array(values.byteLength);
  const view = new DataView(raw.buffer);
  values.forEach((value: number | bigint, i: number) => {
    if (isFloat) view.setFloat32(4 * i, Number(value), true);
    else view.setBigInt64(8 * i, BigInt(value), true);
  });
  return message(...shape.map((size) => int(1, size)), int(2, isFloat ? FLOAT : INT64), bytes(8, name), bytes(9, raw));
}

function valueProto({ name, shape }: OnnxValue): Uint8Array {
  const dimensions = shape.map((size) =>
    bytes(1, typeof size === 'number' ? message(int(1, size)) : message(bytes(2, size))),
  );
  const tensor = message(int(1, FLOAT), bytes(2, message(...dimensions)));
  return message(bytes(1, name), bytes(2, message(bytes(1, tensor))));
}

const encoder = new TextEncoder();

function message(...fields: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(fields.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const field of fields) {
    joined.set(field, at);
    at += field.length;
  }
  return joined;
}

function varint(value: number): Uint8Array {
  const digits: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) digits.push((rest % 128) + 128);
  return Uint8Array.of(...digits, rest);
}

function int(field: number, value: number): Uint8Array {
  return message(varint(field * 8), varint(value));
}

function float(field: number, value: number): Uint8Array {
  const raw = new Uint8Array(4);
  new DataView(raw.buffer).setFloat32(0, value, true);
  return message(varint(field * 8 + 5), raw);
}

function bytes(field: number, value: Uint8Array | string): Uint8Array {
  const raw = typeof value === 'string' ? encoder.encode(value) : value;
  return message(varint(field * 8 + 2), varint(raw.length), raw);
}
