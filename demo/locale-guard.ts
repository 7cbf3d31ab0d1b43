/**
 * Import before uPlot: on import, it makes a number format for the browser's language and throws if that is not a valid
 * language tag, such as the `en-US@posix` of browsers started in a POSIX locale.
 */

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
