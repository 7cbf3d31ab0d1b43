/** What `check-serving-satellite.js` needs of the sources. */
export { angleBetween, directionOf } from '../service/dish/obstruction-map.ts';
export { LinkForecaster } from '../service/link/link-forecaster.ts';
export { SessionClock } from '../service/session-clock.ts';
export { parseElements } from '../service/sky/elements.ts';
export { LEAST_CANDIDATE_DEGREES, ServingSatelliteFinder } from '../service/sky/serving-satellite.ts';
export { createSkyView } from '../service/sky/sky-view.ts';
