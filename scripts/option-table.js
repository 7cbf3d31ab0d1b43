/** The options of an interface of session/page/option-types.ts, for the tables of docs/. */
import { readFileSync } from 'node:fs';

const SOURCE = new URL('../session/page/option-types.ts', import.meta.url);

/** In the order of the source: name, type, meaning, and default in words. Throws for an option that lacks one. */
export function optionsOf(name, source = readFileSync(SOURCE, 'utf8')) {
  const body = new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source)?.[1];
  if (body === undefined) throw new Error(`option-types.ts: no interface ${name}`);
  const comments = body.split(/^(?= {2}\/\*\*)/m);
  return comments.map((text) => {
    const [, comment, option, type] = /^ {2}\/\*\*([\s\S]*?)\*\/\n {2}(\w+)\?: (.*);\n$/.exec(text) ?? [];
    const words = comment
      ?.replace(/\n +\*(?= |$)/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    const [, meaning, standard] = /^(.*)\. Default:? (.*)\.$/.exec(words) ?? [];
    if (standard === undefined)
      throw new Error(`${name}: expected a comment with a default and one option, got ${text}`);
    return { option, type, meaning, default: standard };
  });
}
