/** The ONNX files that the viewer has opened or dropped. The page keeps them until the viewer leaves it. */

import { InputError } from '../../abr/errors.ts';
import { CARD_KEY, type ModelCard, parseModelCard } from '../../predictor/onnx/model-card.ts';
import { onnxMetadata } from '../../predictor/onnx/onnx-metadata.ts';

export interface OnnxFile {
  name: string;
  url: string;
  card: ModelCard;
}

/** The key is the name of the forecaster, `onnx:<file>`. */
const FILES = new Map<string, OnnxFile>();

export function onnxFile(forecaster: string): OnnxFile | undefined {
  return FILES.get(forecaster);
}

/** Keeps a file and resolves with the name of its forecaster. Rejects with an `InputError` without a valid card. */
export async function readOnnxFile(file: File): Promise<`onnx:${string}`> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let card: ModelCard;
  try {
    const json = onnxMetadata(bytes).get(CARD_KEY);
    if (json === undefined) throw new InputError(CARD_KEY, 'a model card in the metadata', undefined);
    card = parseModelCard(json);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${file.name}: ${error.field}`, error.expected, error.received);
  }
  // The name becomes a part of the page's address.
  const name = `onnx:${file.name.replaceAll(/[,@\s]/g, '_')}` as const;
  const earlier = FILES.get(name);
  if (earlier) URL.revokeObjectURL(earlier.url);
  FILES.set(name, { name: file.name, url: URL.createObjectURL(file), card });
  return name;
}
