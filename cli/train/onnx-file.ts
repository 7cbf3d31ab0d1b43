/** Writes ONNX files. onnx-proto.json has the part of onnx/onnx.proto (github.com/onnx/onnx) for a small network. */

import protobuf from 'protobufjs';
import messages from './onnx-proto.json' with { type: 'json' };

const MODEL = protobuf.Root.fromJSON(messages).lookupType('ModelProto');

const IR_VERSION = 8;
/** Version of the operators. LeakyRelu needs 16. Gemm, MatMul and Slice need 13. Softplus needs 1. */
const OPSET_VERSION = 17;
/** Data types of tensors. A float attribute also has type 1. */
const FLOAT = 1;
const INT64 = 7;

/** Shapes of float32 tensors by name. A dimension with a name may have any size. */
type Tensors = Readonly<Record<string, readonly (number | string)[]>>;

interface OnnxFile extends Record<'inputs' | 'outputs', Tensors> {
  producer: { name: string; version: string };
  description: string;
  metadata: Readonly<Record<string, string>>;
}

/** Takes nodes in order of evaluation. `add`, `floats` and `whole` return the name of the added tensor. */
export class OnnxGraph {
  private readonly _nodes: object[] = [];
  private readonly _constants: object[] = [];

  /** Adds a node. `attributes` are floats. */
  add(type: string, input: string[], output: string, attributes: Record<string, number> = {}): string {
    const attribute = Object.entries(attributes).map(([name, f]) => ({ name, f, type: FLOAT }));
    this._nodes.push({ input, output: [output], name: output, opType: type, attribute });
    return output;
  }

  floats(name: string, dims: number[], values: ArrayLike<number>): string {
    this._constants.push({ dims, dataType: FLOAT, name, rawData: new Uint8Array(Float32Array.from(values).buffer) });
    return name;
  }

  whole(name: string, ...values: number[]): string {
    const rawData = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    this._constants.push({ dims: [values.length], dataType: INT64, name, rawData });
    return name;
  }

  /** Returns the bytes of the file. The same model gives the same bytes. */
  file({ producer, description, metadata, inputs, outputs }: OnnxFile): Uint8Array {
    const graph = { node: this._nodes, name: producer.name, initializer: this._constants };
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
