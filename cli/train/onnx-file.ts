/** Writes ONNX files, with the part of onnx/onnx.proto (github.com/onnx/onnx) that small networks need. */

import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto2";
  message ModelProto {
    optional int64 ir_version = 1;
    optional string producer_name = 2;
    optional string producer_version = 3;
    optional string doc_string = 6;
    optional GraphProto graph = 7;
    repeated OperatorSetId opset_import = 8;
    repeated Property metadata_props = 14;
  }
  message OperatorSetId { optional string domain = 1; optional int64 version = 2; }
  message Property { optional string key = 1; optional string value = 2; }
  message GraphProto {
    repeated NodeProto node = 1;
    optional string name = 2;
    repeated TensorProto initializer = 5;
    repeated ValueInfo input = 11;
    repeated ValueInfo output = 12;
  }
  message NodeProto {
    repeated string input = 1;
    repeated string output = 2;
    optional string name = 3;
    optional string op_type = 4;
    repeated Attribute attribute = 5;
  }
  message Attribute { optional string name = 1; optional float f = 2; optional int32 type = 20; }
  message TensorProto {
    repeated int64 dims = 1;
    optional int32 data_type = 2;
    optional string name = 8;
    optional bytes raw_data = 9;
  }
  message ValueInfo { optional string name = 1; optional TypeProto type = 2; }
  message TypeProto { optional TensorType tensor_type = 1; }
  message TensorType { optional int32 elem_type = 1; optional Shape shape = 2; }
  message Shape { repeated Dimension dim = 1; }
  message Dimension { optional int64 dim_value = 1; optional string dim_param = 2; }
`);
const MODEL = root.lookupType('ModelProto');

const IR_VERSION = 8;
/** Version of the operators; LeakyRelu needs 16, Gemm, MatMul, Slice and Mean 13, Softplus 1. */
const OPSET_VERSION = 17;
/** Data types of tensors; a float attribute has type 1, too. */
const FLOAT = 1;
const INT64 = 7;

export interface OnnxNode {
  type: string;
  inputs: string[];
  /** Every node has one output. */
  output: string;
  /** Float attributes. */
  attributes?: Record<string, number>;
}

export interface OnnxTensor {
  name: string;
  shape: number[];
  values: Float32Array | BigInt64Array;
}

/** A float32 input or output. A dimension with a name may have any size. */
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
  const file = {
    irVersion: IR_VERSION,
    producerName: producer.name,
    producerVersion: producer.version,
    docString: description,
    graph: {
      node: nodes.map(({ type, inputs: input, output, attributes = {} }) => ({
        ...{ input, output: [output], name: output, opType: type },
        attribute: Object.entries(attributes).map(([name, f]) => ({ name, f, type: FLOAT })),
      })),
      name: producer.name,
      initializer: constants.map(({ name, shape, values }) => ({
        dims: shape,
        dataType: values instanceof Float32Array ? FLOAT : INT64,
        name,
        rawData: new Uint8Array(values.buffer),
      })),
      input: inputs.map(valueInfo),
      output: outputs.map(valueInfo),
    },
    opsetImport: [{ domain: '', version: OPSET_VERSION }],
    metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
  };
  return MODEL.encode(file).finish();
}

function valueInfo({ name, shape }: OnnxValue) {
  const dim = shape.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: FLOAT, shape: { dim } } } };
}
