/** The public data sets that can be fetched (recipes.json): where their files are, what they mean, how they become traces. */

import { idpRows, roadRuns, secondRows, timedLines } from './per-second.ts';
import { pingLines, pingMedians } from './pings.ts';
import data from './recipes.json' with { type: 'json' };
import { type Converter, namedByStart } from './recording.ts';
import { halfStepRows, iperfJson, joinedEpochs, nicCounter, packetTimes, stampedOutput } from './sub-second.ts';

/** In recipes.json, sources without `repository` and `commit` have the recipe's. */
export interface Source {
  /** `owner/repository` on GitHub, or what names the folder of files unpacked by hand. */
  repository: string;
  /** Commit that pins the files; none for files that only `--from` reads. */
  commit?: string;
  /** What to download and unpack by hand, for a source without a commit. */
  byHand?: string;
  /** Path of a file, or a pattern for the paths of several (`pattern` and `flags` in recipes.json). */
  path: string | RegExp;
  /** Name of the recording; with a pattern, a replacement such as `$1-$2`. Default: the file's name without ending. */
  name?: string;
  sha256?: string;
  /** Fields of the sidecar that only this source has. */
  sidecar?: Readonly<Record<string, string>>;
}

export interface Recipe {
  name: string;
  /** What it is, for lists. */
  about: string;
  licence: string;
  /** What to cite beside the repository. */
  cite?: string;
  sources: readonly Source[];
  /** In recipes.json a name of `CONVERTERS`, or `{"<name of CONFIGURED>": <its options>}`. */
  convert: Converter;
  /** Recording group of a recording: constant, or a replacement for what `groupFrom` finds in its name. */
  group?: string;
  groupFrom?: RegExp;
  /** The dips of handovers: their second (UTC) modulo 15, or `deepest`: found in the recording. Default: not stated. */
  handoverSecond?: number | 'deepest';
  /** Location, meaning of the rates, and other fields of the sidecar. */
  sidecar: Readonly<Record<string, string | number | boolean>>;
}

type SourceData = Omit<Source, 'repository' | 'path'> & { path?: string; pattern?: string; flags?: string };
type RecipeData = Omit<Recipe, 'sources' | 'convert' | 'groupFrom'> &
  Pick<Source, 'repository' | 'commit'> & {
    sources: readonly SourceData[];
    convert: keyof typeof CONVERTERS | { [Name in keyof typeof CONFIGURED]?: Parameters<(typeof CONFIGURED)[Name]>[0] };
    groupFrom?: string;
  };

const CONVERTERS = {
  ...{ halfStepRows, idpRows, iperfJson, joinedEpochs, nicCounter, packetTimes, pingLines, pingMedians, roadRuns },
  ...{ stampedOutput, iperfJsonNamedByStart: namedByStart(iperfJson) },
};
const CONFIGURED = { secondRows, timedLines };

export const RECIPES: readonly Recipe[] = (data as unknown as readonly RecipeData[]).map(
  ({ sources, convert, groupFrom, repository, commit, ...recipe }) => ({
    ...recipe,
    sources: sources.map(({ path, pattern, flags, ...source }) => ({
      ...(commit !== undefined && { commit }),
      ...{ repository, ...source, path: path ?? new RegExp(pattern!, flags) },
    })),
    convert: converterOf(convert),
    ...(groupFrom !== undefined && { groupFrom: new RegExp(groupFrom) }),
  }),
);

function converterOf(convert: RecipeData['convert']): Converter {
  if (typeof convert === 'string') return CONVERTERS[convert];
  return convert.secondRows ? secondRows(convert.secondRows) : timedLines(convert.timedLines!);
}
