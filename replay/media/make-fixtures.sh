#!/bin/sh
# Makes fixtures/, as base64 text that Node, a bundler and a page can all import. Its output is committed.
# - fixtures.ts: ten renditions of a 4 s test picture, each with its own picture size and its number in the picture, and a
#   quiet 4 s tone
# - film.ts: six renditions of the demo's film of 6 s (film-pictures.js), from blocks to a sharp picture
# Needs ffmpeg with libx264 and drawtext (Debian: apt-get install ffmpeg).
#
# fixture.ts relies on: fragmented MP4 with one fragment; one IDR picture per second; no B-frames, so that a segment may
# end after any picture.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
out="$here/fixtures/fixtures.ts"
film="$here/fixtures/film.ts"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

encode() { # source, filter, CRF, file
  ffmpeg -nostdin -v error -y $1 -vf "$2" \
    -c:v libx264 -profile:v high -pix_fmt yuv420p -preset veryslow -crf "$3" -bf 0 -refs 1 \
    -g 24 -keyint_min 24 -sc_threshold 0 -video_track_timescale 24000 \
    -movflags +empty_moov+default_base_moof+frag_custom -fflags +bitexact -flags:v +bitexact -map_metadata -1 "$4"
}

style="fontsize=400:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=40:x=(w-text_w)/2:y=(h-text_h)/2"
rendition=0
for size in 64x36 96x54 128x72 160x90 192x108 224x126 256x144 288x162 320x180 352x198; do
  encode "-f lavfi -i testsrc2=size=1280x720:rate=24:duration=4" \
    "drawtext=$style:text='$((rendition + 1))',scale=$(echo $size | tr x :):flags=area" 34 "video-$rendition.mp4"
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

node "$here/film-pictures.js" | ffmpeg -v error -f rawvideo -pix_fmt rgb24 -s 1280x720 -r 24 -i - -c:v ffv1 film.mkv
news='NEWS   ·   Satellite passes at 12\:15   ·   Rain expected in the evening   ·   Orchestra plays in the park   ·   '
ticker="drawbox=y=632:h=88:color=0x14213d@0.85:t=fill"
ticker="$ticker,drawtext=fontsize=44:fontcolor=white:y=654:x='-mod(t/6,1)*tw/2':text='$news$news'"
rendition=0
for one in 192:108/42 256:144/38 384:216/34 512:288/30 576:324/29 640:360/28; do
  encode "-i film.mkv" "$ticker,noise=alls=7:allf=t:all_seed=1,scale=${one%/*}:flags=area" "${one#*/}" "film-$rendition.mp4"
  rendition=$((rendition + 1))
done

{
  echo '/** Made by replay/media/make-fixtures.sh from film-pictures.js: fragmented MP4 files as base64, see fixture.ts. */'
  echo
  echo '/** H.264 High, 24 pictures a second, 6 s; 192x108 ... 640x360. */'
  echo 'export const FILM_FIXTURES: readonly string[] = ['
  for file in film-0 film-1 film-2 film-3 film-4 film-5; do
    echo "  '$(base64 -w 0 "$file.mp4")',"
  done
  echo '];'
} >"$film"
ls -l "$out" "$film"
