/** Writes the document as one self-contained HTML page, in pieces. It draws a figure when it writes that piece. */

import type { Block, Figure, ReportDocument, Section, Table } from './document.ts';
import { type Cell, cellText, isStrong } from './format.ts';
import { PAGE_STYLE } from './page-style.ts';

/** With this policy the page loads nothing and runs nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

export function* html({ title, opening, sections }: ReportDocument): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escaped(title)}</title>
<style>
${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escaped(title)}</h1>
</header>
<main>
`;
  yield* sectionsHtml([opening]);
  yield contents(sections);
  yield* sectionsHtml(sections);
  yield '</main>\n</body>\n</html>\n';
}

function* sectionsHtml(sections: readonly Section[]): Generator<string> {
  for (const [i, { id, title, level, blocks }] of sections.entries()) {
    if (level === 2) yield `${i > 0 ? '</section>\n' : ''}<section aria-labelledby="${id}">\n`;
    yield `<h${level} id="${id}">${escaped(title)}</h${level}>\n`;
    for (const [b, block] of blocks.entries()) yield* blockHtml(block, `${id}-${b + 1}`);
  }
  yield '</section>\n';
}

function contents(sections: readonly Section[]): string {
  const items = sections.map(({ id, title, level }) => {
    return `<li${level === 2 ? '' : ' class="part"'}><a href="#${id}">${escaped(title)}</a></li>\n`;
  });
  return `<nav aria-label="Contents">\n<ul>\n${items.join('')}</ul>\n</nav>\n`;
}

function* blockHtml(block: Block, id: string): Generator<string> {
  if (block.kind === 'text') yield `<p>${inline(block.text)}</p>\n`;
  else if (block.kind === 'list') {
    yield `<ul>\n${block.items.map((item) => `<li>${inline(item)}</li>\n`).join('')}</ul>\n`;
  } else if (block.kind === 'table') yield tableHtml(block, id);
  else {
    yield '<div class="figures">\n';
    for (const figure of block.figures) yield figureHtml(figure);
    yield '</div>\n';
  }
}

function figureHtml({ title, caption, label, draw }: Figure): string {
  const image = `<div role="img" aria-label="${escaped(label)}">${draw()}</div>`;
  return `<figure>\n<p><strong>${escaped(title)}</strong></p>\n${image}\n<figcaption>${inline(caption)}</figcaption>\n</figure>\n`;
}

/** Puts the table into a frame that scrolls on narrow pages, also by keyboard. */
function tableHtml({ caption, names, numbers = [], endsInText, isFolded, rows }: Table, id: string): string {
  const side = (i: number) =>
    i >= names.length ? ' class="number"' : endsInText && i === names.length - 1 ? '' : ' class="name"';
  const head = [...names, ...numbers].map((title, i) => `<th scope="col"${side(i)}>${escaped(title)}</th>`).join('');
  const body = rows.map((row) => {
    const cells = row.map((cell, i) =>
      i === 0 ? `<th scope="row">${cellHtml(cell)}</th>` : `<td${side(i)}>${cellHtml(cell)}</td>`,
    );
    return `<tr>${cells.join('')}</tr>\n`;
  });
  const table = `<thead>\n<tr>${head}</tr>\n</thead>\n<tbody>\n${body.join('')}</tbody>\n</table>\n</div>\n`;
  const frame = '<div class="table" role="region" tabindex="0" aria-labelledby';
  return isFolded
    ? `<details>\n<summary id="${id}-caption">${inline(caption)}</summary>\n${frame}="${id}-caption">\n<table>\n${table}</details>\n`
    : `${frame}="${id}-caption">\n<table>\n<caption id="${id}-caption">${inline(caption)}</caption>\n${table}`;
}

/** Puts the interval of an estimate on its own line. */
function cellHtml(cell: Cell): string {
  const text = inline(cellText(cell)).replace(/ (\([^()]* to [^()]*\))$/, ' <span class="interval">$1</span>');
  return isStrong(cell) ? `<strong>${text}</strong>` : text;
}

/** Escapes text and marks up `code`. */
function inline(text: string): string {
  return escaped(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
