/** The file of the shipped model, without its card. */

import described from '../models/built-in.json' with { type: 'json' };
import type { ModelFile } from './model-file.ts';

const { card: _, ...file } = described;

export const SHIPPED_FILE = file as ModelFile;
