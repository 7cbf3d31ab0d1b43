/** `leo-abr export`: writes a model of `leo-abr train` as ONNX, for `leo-abr/onnx` in a page or another runtime. */

import { Command } from 'commander';
import { check } from '../../abr/errors.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { readJson, requireWritable } from '../shared/results-file.ts';
import type { DescribedModel } from './model-card.ts';

export function exportCommand(io: CommandIo): Command {
  return new Command('export')
    .description('write a trained model as an ONNX file, with its card inside')
    .argument('<model.json>', 'as `train` wrote it')
    .option('--out <model.onnx>', 'default: beside the model')
    .action(async (file: string, flags: { out?: string }) => {
      const { out = `${file.replace(/\.json$/, '')}.onnx` } = flags;
      const bytes = await onnxOf(file);
      requireWritable(out, 'ONNX model');
      writeFileAtomically(out, bytes);
      io.stderr.write(`wrote ${out}\n`);
    });
}

async function onnxOf(file: string): Promise<Uint8Array> {
  const model = readJson(file, '<model.json>') as DescribedModel;
  parseModel(model, file);
  const { card } = model;
  const isCard = typeof card?.fit?.golden?.[0] === 'object' && typeof card.tool?.name === 'string';
  check(isCard && typeof card.tool.version === 'string', placeOf({ file, field: 'card' }), 'a model card', card);
  // The import is here, so that other commands start without protobufjs.
  const { exportOnnx } = await import('./export-onnx.ts');
  return exportOnnx(model);
}
