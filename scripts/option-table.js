/** Reads the options of an interface of session/page/option-types.ts, for the tables of docs/. */
import { read } from './command-line.js';

/** Name, type, meaning and default in words, in the order of the source. Throws if an option lacks one of them. */
export function optionsOf(name) {
  const source = read('session/page/option-types.ts');
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
