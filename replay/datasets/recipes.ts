/** Public data sets to fetch (recipes.json): their files, what these mean, and how they become traces. */

import { idpRows, roadRuns, secondRows, timedLines } from './per-second.ts';
import data from './recipes.json' with { type: 'json' };
import type { Converter } from './recording.ts';
import { halfStepRows, iperfJson, joinedEpochs, nicCounter, stampedOutput } from './sub-second.ts';

/** In recipes.json, sources without `repository` and `commit` have the recipe's. */
export interface RecipeSource {
  repository: string;
  commit: string;
  /** Path of a file, or a pattern for the paths of several (`pattern` in recipes.json). */
  path: string | RegExp;
  /** Name of the recording; with a pattern, a replacement such as `$1-$2`. Default: the file's name without ending. */
  name?: string;
  sha256?: string;
  sidecar?: Readonly<Record<string, string>>;
}

export interface Recipe {
  name: string;
  about: string;
  licence: string;
  cite?: string;
  sources: readonly RecipeSource[];
  /** In recipes.json a name of `CONVERTERS`, or `{"<name of CONFIGURED>": <its options>}`. */
  convert: Converter;
  /** Recording group of a recording: constant, or a replacement for what `groupFrom` finds in its name. */
  group?: string;
  groupFrom?: RegExp;
  /** Second (UTC) modulo 15 of the handovers' dips; `deepest`: found in the recording. Default: not stated. */
  handoverSecond?: number | 'deepest';
  /** Location, meaning of the rates, and other fields of the sidecar. */
  sidecar: Readonly<Record<string, string | number | boolean>>;
}

type SourceData = Omit<RecipeSource, 'repository' | 'path' | 'commit'> & {
  commit?: string;
  path?: string;
  pattern?: string;
};
type RecipeData = Omit<Recipe, 'sources' | 'convert' | 'groupFrom'> & {
  repository: string;
  commit?: string;
  sources: readonly SourceData[];
  convert: keyof typeof CONVERTERS | { [Name in keyof typeof CONFIGURED]?: Parameters<(typeof CONFIGURED)[Name]>[0] };
  groupFrom?: string;
};

const CONVERTERS = { halfStepRows, idpRows, iperfJson, joinedEpochs, nicCounter, roadRuns, stampedOutput };
const CONFIGURED = { secondRows, timedLines };

export const RECIPES: readonly Recipe[] = (data as unknown as readonly RecipeData[]).map(
  ({ sources, convert, groupFrom, repository, commit: commitOfAll, ...recipe }) => ({
    ...recipe,
    sources: sources.map(({ path, pattern, commit = commitOfAll!, ...source }) => ({
      ...{ repository, commit, ...source, path: path ?? new RegExp(pattern!) },
    })),
    convert: converterOf(convert),
    ...(groupFrom !== undefined && { groupFrom: new RegExp(groupFrom) }),
  }),
);

function converterOf(convert: RecipeData['convert']): Converter {
  if (typeof convert === 'string') return CONVERTERS[convert];
  return convert.secondRows ? secondRows(convert.secondRows) : timedLines(convert.timedLines!);
}
