/** Writes ONNX files, with the part of onnx/onnx.proto (github.com/onnx/onnx) that a small network needs (onnx-proto.json). */

import protobuf from 'protobufjs';
import messages from './onnx-proto.json' with { type: 'json' };

const MODEL = protobuf.Root.fromJSON(messages).lookupType('ModelProto');

const IR_VERSION = 8;
/** Version of the operators; LeakyRelu needs 16, Gemm, MatMul and Slice 13, Softplus 1. */
const OPSET_VERSION = 17;
/** Data types of tensors; a float attribute has type 1, too. */
const FLOAT = 1;
const INT64 = 7;

/** Float32 tensors by name, with their shapes. A dimension with a name may have any size. */
type Tensors = Readonly<Record<string, readonly (number | string)[]>>;

/** Nodes in order of evaluation. Methods return the name of the added tensor. */
export class OnnxGraph {
  readonly #nodes: object[] = [];
  readonly #constants: object[] = [];

  /** `attributes`: floats. */
  add(type: string, input: string[], output: string, attributes: Record<string, number> = {}): string {
    const attribute = Object.entries(attributes).map(([name, f]) => ({ name, f, type: FLOAT }));
    this.#nodes.push({ input, output: [output], name: output, opType: type, attribute });
    return output;
  }

  floats(name: string, dims: number[], values: ArrayLike<number>): string {
    this.#constants.push({ dims, dataType: FLOAT, name, rawData: new Uint8Array(Float32Array.from(values).buffer) });
    return name;
  }

  whole(name: string, ...values: number[]): string {
    const rawData = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    this.#constants.push({ dims: [values.length], dataType: INT64, name, rawData });
    return name;
  }

  /** The bytes of the file; the same model gives the same bytes. */
  file(model: {
    producer: { name: string; version: string };
    description: string;
    metadata: Readonly<Record<string, string>>;
    inputs: Tensors;
    outputs: Tensors;
  }): Uint8Array {
    const { producer, description, metadata, inputs, outputs } = model;
    const graph = { node: this.#nodes, name: producer.name, initializer: this.#constants };
    const file = {
      irVersion: IR_VERSION,
      producerName: producer.name,
      producerVersion: producer.version,
      docString: description,
      graph: { ...graph, input: valueInfos(inputs), output: valueInfos(outputs) },
      opsetImport: [{ domain: '', version: OPSET_VERSION }],
      metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    };
    return MODEL.encode(file).finish();
  }
}

function valueInfos(tensors: Tensors): object[] {
  return Object.entries(tensors).map(([name, shape]) => {
    const dim = shape.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
    return { name, type: { tensorType: { elemType: FLOAT, shape: { dim } } } };
  });
}
