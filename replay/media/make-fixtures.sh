#!/bin/sh
# Makes fixtures/fixtures.ts: ten renditions of a 4 s test picture, each with its own picture size and its number in the
# picture, and a quiet 4 s tone, as base64 text that Node, a bundler and a page can all import. Its output is committed.
# Needs ffmpeg with libx264 and drawtext (Debian: apt-get install ffmpeg).
#
# fixture.ts relies on: fragmented MP4 with one fragment; one IDR picture per second; no B-frames, so that a segment may
# end after any picture.
set -eu
out="$(cd "$(dirname "$0")" && pwd)/fixtures/fixtures.ts"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

style="fontsize=400:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=40:x=(w-text_w)/2:y=(h-text_h)/2"
rendition=0
for size in 64x36 96x54 128x72 160x90 192x108 224x126 256x144 288x162 320x180 352x198; do
  ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=size=1280x720:rate=24:duration=4" \
    -vf "drawtext=$style:text='$((rendition + 1))',scale=$(echo $size | tr x :):flags=area" \
    -c:v libx264 -profile:v high -pix_fmt yuv420p -preset veryslow -crf 34 -bf 0 -refs 1 \
    -g 24 -keyint_min 24 -sc_threshold 0 -video_track_timescale 24000 \
    -movflags +empty_moov+default_base_moof+frag_custom -fflags +bitexact -flags:v +bitexact -map_metadata -1 \
    "video-$rendition.mp4"
  rendition=$((rendition + 1))
done

ffmpeg -nostdin -v error -y -f lavfi -i "sine=frequency=220:sample_rate=48000:duration=4" -af volume=0.05 \
  -c:a aac -ac 1 -b:a 24k -movflags +empty_moov+default_base_moof+frag_custom -fflags +bitexact -flags:a +bitexact \
  -map_metadata -1 audio.mp4

{
  echo '/** Made by replay/media/make-fixtures.sh: fragmented MP4 files as base64, see fixture.ts. */'
  echo
  echo '/** H.264 High, 24 pictures a second, 4 s; 64x36, 96x54, 128x72 ... 352x198, numbered 1 to 10. */'
  echo 'export const VIDEO_FIXTURES: readonly string[] = ['
  for file in video-0 video-1 video-2 video-3 video-4 video-5 video-6 video-7 video-8 video-9; do
    echo "  '$(base64 -w 0 "$file.mp4")',"
  done
  echo '];'
  echo
  echo '/** AAC-LC, mono, 48 kHz, 4 s of a quiet tone. */'
  echo "export const AUDIO_FIXTURE = '$(base64 -w 0 audio.mp4)';"
} >"$out"
ls -l "$out"
