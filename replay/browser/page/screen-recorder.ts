/** Records the picture widths on screen per segment; they identify the shown representations. */

export class ScreenRecorder {
  readonly widths: number[][];
  private handle = 0;

  constructor(
    private readonly element: HTMLVideoElement,
    private readonly segmentSeconds: number,
    segmentCount: number,
  ) {
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
