/** At what size a video is shown. */

/** The model of quality was fitted between these. */
const LEAST_LINES = 540;
const MOST_LINES = 2160;
/** A floating window, whose size only its own events tell, is about this share of the screen's height. */
const PICTURE_IN_PICTURE_SHARE = 0.25;

/**
 * Lines of a 16:9 picture with as many pixels, for `Encoding.displayedLines`; undefined while nothing is shown. A CSS pixel
 * is about as large to the eye on every screen, and a device pixel limits what it resolves: this is their geometric mean.
 */
export function displayedLines(video: HTMLMediaElement | null | undefined): number | undefined {
  if (!video) return undefined;
  const { devicePixelRatio = 1, document, screen } = globalThis;
  const { videoWidth = 16, videoHeight = 9 } = video as Partial<HTMLVideoElement>;
  const aspect = videoWidth / videoHeight || 16 / 9;
  const isFloating = document?.pictureInPictureElement === video;
  const heightLimit = isFloating ? PICTURE_IN_PICTURE_SHARE * screen.height : video.clientHeight;
  const widthLimit = isFloating ? Number.POSITIVE_INFINITY : video.clientWidth;
  const height = Math.min(heightLimit, widthLimit / aspect);
  const lines = height * Math.sqrt(((aspect * 9) / 16) * devicePixelRatio);
  return lines > 0 ? Math.min(MOST_LINES, Math.max(LEAST_LINES, lines)) : undefined;
}
