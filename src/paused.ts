/** Whether the viewer has paused. With `autoplay`, an element is also paused until it has enough media to begin. */
export function isPaused(media: HTMLMediaElement | null | undefined): boolean {
  return Boolean(media?.paused && (!media.autoplay || media.played.length > 0));
}
