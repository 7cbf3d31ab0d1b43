/**
 * uPlot asks for a number format in the browser's language when it is loaded, and throws where that is no language tag:
 * browsers started in a POSIX locale call theirs `en-US@posix`. To be imported before uPlot.
 */

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
