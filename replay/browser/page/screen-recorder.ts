/** Which picture widths were on screen in each segment: the proof of what was shown. */

export class ScreenRecorder {
  /** By segment. */
  readonly widths: number[][];
  private readonly element: HTMLVideoElement;
  private readonly segmentSeconds: number;
  private handle = 0;

  constructor(element: HTMLVideoElement, segmentSeconds: number, segmentCount: number) {
    this.element = element;
    this.segmentSeconds = segmentSeconds;
    this.widths = Array.from({ length: segmentCount }, () => []);
    this.next();
  }

  stop(): void {
    this.element.cancelVideoFrameCallback(this.handle);
  }

  private next(): void {
    this.handle = this.element.requestVideoFrameCallback((_now, { mediaTime, width }) => {
      const seen = this.widths[Math.floor(mediaTime / this.segmentSeconds + 1e-6)];
      if (seen !== undefined && !seen.includes(width)) seen.push(width);
      this.next();
    });
  }
}
