/** Smaller changes of the rate cause glitches in Safari's audio (WebKit bug 208142). */
const SAFARI_STEP = 0.25;

/** `RatePort.rateStep` of this browser; told apart as dash.js does. */
export function browserRateStep(): number | undefined {
  const agent = globalThis.navigator?.userAgent ?? '';
  const isSafari = /safari/i.test(agent) && !/edg|opr|opios|chrome|crios|firefox|fxios/i.test(agent);
  return isSafari ? SAFARI_STEP : undefined;
}
