/** The types of the entry `leo-abr/global`: in a script element, it defines `LeoAbr` as the exports of the main entry. */

declare global {
  var LeoAbr: typeof import('./index.ts');
}

export {};
