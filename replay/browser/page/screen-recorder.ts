/** Records the picture widths on screen per segment; they identify the shown representations. */

export class ScreenRecorder {
  readonly widths: number[][];
  private _handle = 0;

  constructor(
    private readonly _element: HTMLVideoElement,
    private readonly _segmentSeconds: number,
    segmentCount: number,
  ) {
    this.widths = Array.from({ length: segmentCount }, () => []);
    this._next();
  }

  stop(): void {
    this._element.cancelVideoFrameCallback(this._handle);
  }

  private _next(): void {
    this._handle = this._element.requestVideoFrameCallback((_now, { mediaTime, width }) => {
      const seen = this.widths[Math.floor(mediaTime / this._segmentSeconds + 1e-6)];
      if (seen !== undefined && !seen.includes(width)) seen.push(width);
      this._next();
    });
  }
}
