import { expect, test } from '@jest/globals';
import { Scripted, ScriptedAbandoning, Steady, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { attached, FakePlayer, livePlayer, segmentAt } from './fake-player.fixture.ts';
import { BAD_HTTP_STATUS, INIT_SEGMENT, MEDIA_SEGMENT, OPERATION_ABORTED } from './player.ts';

useManualClock();

/** `decided`: the state of the next decision. */
function loaded(player = new FakePlayer(), controller = new ScriptedAbandoning()) {
  const { handle } = attached({ controller }, player);
  player.load();
  const decided = () => {
    player.ask();
    return controller.states.at(-1)!;
  };
  return { player, handle, controller, decided };
}

test('counts bytes when they arrive, whatever Shaka reports of them later', async () => {
  const { player, controller, decided } = loaded();
  const received: number[] = [];
  player.streamDataCallback = async (part) => {
    for (let i = 0; i < 9; i++) await null;
    received.push(part.byteLength);
  };
  const sent = player.send(0);
  wait(0.15);
  await sent.read(1000);
  wait(0.2);
  await sent.read(500);
  // Shaka's own callback for them goes on, and is waited for.
  expect(received).toEqual([1000, 500]);
  wait(0.2);
  sent.arrived(8000);
  wait(0.1);
  expect(controller.inFlights.at(-1)!.receivedBits).toBe(12_000);
  // A download ends with its last byte, not with the body that Shaka joins.
  sent.completed(12_000);
  expect(decided().downloads[0]!.downloadSeconds).toBeCloseTo(0.35);
});

test('a repetition by Shaka 4, which calls no filter, counts from its first byte', async () => {
  const { player, decided } = loaded();
  const sent = player.send(0);
  await sent.read(1e5);
  sent.failed();
  wait(1);
  await sent.read(1e5);
  wait(1);
  await sent.read(4e5);
  sent.completed(4e6);
  expect(decided().downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
});

test.each([
  [4, 'on demand', new FakePlayer()],
  [5, 'on demand', new FakePlayer()],
  [4, 'live', livePlayer()],
  [5, 'live', livePlayer()],
])('neither a refusal nor the pause of Shaka %d after it shows the link: %s', async (version, _, player) => {
  const steady = new Steady();
  attached({ controller: new Scripted(), forecasters: [steady] }, player);
  player.load();
  player.download(0, 4e6, 1);
  const from = steady.observations.length;
  const sent = player.send(1, 0);
  wait(0.1);
  sent.responded(1000);
  sent.failed(BAD_HTTP_STATUS);
  if (version === 5) sent.filtered();
  wait(1.5);
  sent.attempted();
  wait(0.1);
  await sent.read(1e5);
  wait(0.1);
  await sent.read(4e5);
  sent.completed(4e6);
  wait(1);
  player.ask();
  const outage = steady.observations.slice(from).filter((one) => one.kind === 'throughput' && one.bits === 0);
  expect(outage).toEqual([]);
});

test('a callback after the end of its request counts for nothing', () => {
  const { player, handle, decided } = loaded();
  player.download(0, 4e6, 1);
  const sent = player.send(1);
  wait(0.5);
  sent.completed(8e5);
  const { requestedBits } = handle.state;
  sent.arrived(56e5);
  expect(handle.state.requestedBits).toBe(requestedBits);
  expect(decided().downloads).toHaveLength(2);
});

test('takes the size from the headers, unless the body is compressed', () => {
  const { player, handle } = loaded();
  const sent = player.send(0);
  const estimated = handle.state.requestedBits;
  sent.responded(56, { 'content-encoding': 'gzip' });
  expect(handle.state.requestedBits).toBe(estimated);
  sent.responded(8000);
  expect(handle.state.requestedBits).toBe(8000);
});

test("a request that Shaka's timer ends is no abandonment, and its repetition is another download", () => {
  const { player, handle, decided } = loaded();
  const sent = player.send(0);
  wait(1);
  sent.failed(OPERATION_ABORTED, { aborted: true });
  expect(handle.state).toMatchObject({ requestedBits: 0, wastedBits: 0 });
  wait(1);
  // Shaka 4 does not call its filters again.
  sent.arrived(8e5);
  wait(1);
  sent.completed(4e6, Number.NaN);
  expect(decided().downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
});

test('init segments and audio are no video downloads', () => {
  const { player, handle, decided } = loaded();
  player.send(0, undefined, INIT_SEGMENT);
  expect(handle.state.nowSeconds).toBe(0);
  const context = { type: 1, stream: player.audio[0]!, segment: segmentAt(0) };
  for (const filter of player.filters) filter(1, { uris: [], headers: {} }, context);
  wait(2);
  expect(handle.state).toMatchObject({ nowSeconds: 2, requestedBits: 0 });
  expect(decided().segmentIndex).toBe(0);
});

test('takes sizes and number of segments from the index, however long the segment is that plays', () => {
  const player = new FakePlayer();
  player.variants[1]!.video!.segmentIndex = {
    find: (seconds) => Math.floor(seconds / 2),
    get: (position) => segmentAt(position, 1000 * position, 1000 * position + 499),
  };
  const { decided } = loaded(player);
  expect(decided().upcomingSizesBits[0]).toEqual([4e6, 4000, 16e6]);
  expect(decided().segmentsRemaining).toBe(20);
});

test('a segment is of the video in whose index it is, though Shaka has switched since and names the new one', () => {
  const { player, controller } = loaded();
  const held = segmentAt(0);
  player.variants[1]!.video!.segmentIndex = { find: () => 0, get: () => held };
  const context = { type: MEDIA_SEGMENT, stream: player.variants[2]!.video!, segment: held };
  const request = { uris: ['/0.m4s'], headers: {} };
  for (const filter of player.filters) filter(1, request, context);
  wait(0.5);
  player.manager!.segmentDownloaded(50, 1e5, true, request, context);
  expect(controller.inFlights.at(-1)!.bitrateBps).toBe(player.variants[1]!.video!.bandwidth);
});

test('bytes without a request, as of media over QUIC, are throughput', () => {
  const player = new FakePlayer();
  const { handle, decisions, faults } = attached({}, player);
  player.load();
  expect(player.active).toBe(player.variants[0]);
  for (let index = 0; index < 4; index++) {
    wait(1);
    player.bufferLevelSeconds = 4 * (index + 1);
    // At 20 Mbit/s, which is when the next segment begins.
    player.manager!.segmentDownloaded(200, 5e5, true);
    player.emit('segmentappended', { contentType: 'video', end: 4 * (index + 1) });
  }
  const { state, forecast } = decisions.at(-1)!;
  expect(state.downloads.map(({ receivedBits, downloadSeconds }) => receivedBits / downloadSeconds)).toEqual(
    state.downloads.map(() => 20e6),
  );
  expect(state.downloads.length).toBeGreaterThan(1);
  expect(state).toMatchObject({ segmentIndex: state.downloads.length, previousBitrateBps: expect.any(Number) });
  expect(forecast?.source).toBe('built-in');
  expect(player.active).toBe(player.variants[2]);
  expect([faults, handle.state.status]).toEqual([[], 'attached']);
});
