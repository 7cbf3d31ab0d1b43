/** The ONNX files that the viewer has opened or dropped; the page keeps them until it is left. */

import { InputError } from '../../abr/errors.ts';
import { CARD_KEY, type ModelCard, parseModelCard } from '../../predictor/onnx/model-card.ts';
import { onnxMetadata } from '../../predictor/onnx/onnx-metadata.ts';

export interface OnnxFile {
  name: string;
  url: string;
  card: ModelCard;
}

/** By the forecaster's name, `onnx:<file>`. */
const FILES = new Map<string, OnnxFile>();

export function onnxFile(forecaster: string): OnnxFile | undefined {
  return FILES.get(forecaster);
}

/** Keeps a file and returns its forecaster's name. Rejects with an `InputError` for one without a valid card. */
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
  // Names are parts of the page's address.
  const name = `onnx:${file.name.replaceAll(/[,@\s]/g, '_')}` as const;
  const earlier = FILES.get(name);
  if (earlier) URL.revokeObjectURL(earlier.url);
  FILES.set(name, { name: file.name, url: URL.createObjectURL(file), card });
  return name;
}
