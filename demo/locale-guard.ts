/** Replaces a language of the browser that is no valid tag (`en-US@posix`): with it, uPlot throws on import. */

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
