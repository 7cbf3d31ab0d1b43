/** The look of the report's page: light, dark and paper. */

export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  font: 15px / 1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --page: light-dark(#f3f5f8, #0e131a);
  --panel: light-dark(#ffffff, #171e28);
  --text: light-dark(#17202e, #e6ebf2);
  --text-soft: light-dark(#54606f, #a3afbf);
  --line: light-dark(#e3e8ee, #273140);
  --border: light-dark(#cfd6df, #3a4656);
  --accent: light-dark(#1b4fd6, #8ab4ff);
  --series-0: light-dark(#1b4fd6, #7fb0ff);
  --series-1: light-dark(#b34700, #ffac57);
  --series-2: light-dark(#0b7261, #4fd6b4);
  --series-3: light-dark(#8a2cc0, #d79bff);
  --series-4: light-dark(#b0226b, #ff8fc2);
  --series-5: light-dark(#5f6a10, #c4d15a);
  --series-6: light-dark(#54606f, #a3afbf);
  --series-7: light-dark(#00708f, #6fd3ee);
}
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); }
header, main { max-width: 1520px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 12px; }
h2 { font-size: 1.3rem; margin: 0 0 8px; }
h3 { font-size: 1.05rem; margin: 28px 0 8px; }
p, li { max-width: 120ch; }
p { margin: 8px 0; }
nav { font-size: 0.9rem; }
nav ul { list-style: none; padding: 0; columns: 16em auto; }
nav .part { padding-left: 12px; }
a { color: var(--accent); }
section {
  background: var(--panel); border: 1px solid var(--border); border-radius: 8px; padding: 20px; margin: 20px 0;
}
code { overflow-wrap: anywhere; font: 0.92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.figures {
  display: grid; gap: 16px 24px; margin: 12px 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr));
}
figure { margin: 0; min-width: 0; max-width: 620px; }
figcaption, caption { color: var(--text-soft); font-size: 0.85rem; text-align: left; max-width: 150ch; }
summary { cursor: pointer; }
.plot {
  --plot-background: var(--panel); display: block; width: 100%; max-width: 100%; height: auto; overflow: visible;
  color: var(--text);
}
.plot text, .plot tspan { white-space: pre; }
.table { overflow-x: auto; margin: 12px 0 20px; }
.table:focus-visible, a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.85rem; width: 100%; }
caption { padding: 0 0 6px; position: sticky; left: 0; max-width: min(150ch, 100vw - 84px); }
th, td { padding: 4px 7px; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { border-bottom-color: var(--border); font-weight: 600; color: var(--text-soft); vertical-align: bottom; }
tbody th { font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number, td.name { white-space: nowrap; }
.interval { display: block; font-size: 0.9em; color: var(--text-soft); font-weight: 400; }
strong { font-weight: 700; }
@media (max-width: 600px) {
  header, main { padding: 0 10px; }
  section { padding: 14px 12px; }
}
@page { size: A4; margin: 14mm 12mm; }
@media print {
  :root { color-scheme: light; --page: #ffffff; font-size: 9.5pt; }
  header, main { max-width: none; padding: 0; }
  nav { display: none; }
  section { border: 0; border-radius: 0; padding: 0; margin: 12pt 0; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  .table { overflow: visible; }
  caption { position: static; max-width: none; }
  table { font-size: 5.5pt; }
  th, td { padding: 2pt 1.5pt; overflow-wrap: anywhere; }
  th { white-space: normal; }
  .interval { white-space: normal; max-width: 15mm; margin-left: auto; }
  .figures { grid-template-columns: 1fr 1fr; }
  .plot, .table { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
}
`;
