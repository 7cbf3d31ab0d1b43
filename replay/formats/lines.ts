/** Iterates over the lines of a text without splitting it. */

/**
 * Calls `onLine(start, end, line)` for each line of `text`: `text[start, end)` without surrounding spaces, `line` from
 * 1. Skips empty lines at the end of the text.
 */
export function eachLine(text: string, onLine: (start: number, end: number, line: number) => void): void {
  let textEnd = text.length;
  while (textEnd > 0 && isSpace(text.charCodeAt(textEnd - 1))) textEnd--;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (let line = 1; at < textEnd; line++) {
    const newline = text.indexOf('\n', at);
    const stop = newline === -1 || newline > textEnd ? textEnd : newline;
    let start = at;
    let end = stop;
    while (start < end && isSpace(text.charCodeAt(start))) start++;
    while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
    onLine(start, end, line);
    at = stop + 1;
  }
}

/** Space, tab, carriage return or newline. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10;
}
