/** The types of the entry `leo-abr/global`, a script that defines `LeoAbr` as the exports of the main entry. */

declare global {
  var LeoAbr: typeof import('./index.ts');
}

export {};
