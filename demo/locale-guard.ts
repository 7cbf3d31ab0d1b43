/** For uPlot, which throws on import where the browser's language is no valid tag (`en-US@posix`). */

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
