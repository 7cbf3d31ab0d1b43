import { expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning } from '../core/scripted.fixture.ts';
import { attached, FakePlayer, type Request, segmentAt } from './fake-player.fixture.ts';
import { INIT_SEGMENT } from './player.ts';

useManualClock();

const part = (request: Request, bytes: number) => request.streamDataCallback!(new Uint8Array(bytes));

function loaded(player = new FakePlayer(), controller = new Scripted()) {
  const all = attached({ controller }, player);
  player.load();
  const decided = () => {
    player.manager!.trySuggestStreams();
    return controller.states.at(-1)!;
  };
  return { ...all, player, controller, decided };
}

test('measures a download from its request, with the headers as its first byte', () => {
  const { player, controller } = loaded();
  player.download(0, 4e6, 1);
  expect(controller.states[1]!.nowSeconds).toBeCloseTo(1);
  const [download] = controller.states[1]!.downloads;
  expect(download).toMatchObject({ segmentIndex: 0, receivedBits: 4e6, sizeBits: 4e6, abandoned: false });
  expect(download!.downloadSeconds).toBeCloseTo(1);
  expect(download!.latencySeconds).toBeCloseTo(0.1);
});

test('counts bytes when they arrive, whatever Shaka reports of them later', async () => {
  const { player, controller } = loaded(new FakePlayer(), new ScriptedAbandoning());
  const received: number[] = [];
  const request: Request = { uris: [], headers: {}, streamDataCallback: async (all) => received.push(all.byteLength) };
  const context = player.request(0, undefined, request).context;
  wait(0.15);
  await part(request, 1000);
  wait(0.2);
  await part(request, 500);
  wait(0.2);
  player.manager!.segmentDownloaded(350, 1000, true, request, context);
  wait(0.1);
  expect(controller.inFlights.at(-1)!.receivedBits).toBe(12_000);
  // Shaka's own callback for them goes on.
  expect(received).toEqual([1000, 500]);
});

test('a download ends with its last byte, not with the body that Shaka joins', async () => {
  const { player, decided } = loaded();
  const { request } = player.request(0);
  wait(0.5);
  await part(request, 2e5);
  wait(0.5);
  await part(request, 3e5);
  wait(0.2);
  player.emit('downloadcompleted', { request, response: { data: { byteLength: 5e5 }, timeMs: 1200 } });
  expect(decided().downloads[0]!.downloadSeconds).toBeCloseTo(1);
});

test('a repetition by Shaka 4, which calls no filter, counts from its first byte', async () => {
  const { player, decided } = loaded();
  const { request } = player.request(0);
  await part(request, 1e5);
  player.emit('downloadfailed', { request, error: { code: 1002 } });
  wait(1);
  await part(request, 1e5);
  wait(1);
  await part(request, 4e5);
  player.emit('downloadcompleted', { request, response: { data: { byteLength: 5e5 }, timeMs: 1000 } });
  expect(decided().downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
});

test('a callback after the end of its request counts for nothing', () => {
  const { player, handle, decided } = loaded();
  player.download(0, 4e6, 1);
  const { request, context } = player.request(1);
  wait(0.5);
  player.emit('downloadcompleted', { request, response: { data: { byteLength: 1e5 } } });
  const { requestedBits } = handle.state;
  player.manager!.segmentDownloaded(100, 7e5, true, request, context);
  expect(handle.state.requestedBits).toBe(requestedBits);
  expect(decided().downloads).toHaveLength(2);
});

test('takes the size from the headers, unless the body is compressed', () => {
  const { player, handle } = loaded();
  const { request } = player.request(0);
  const estimated = handle.state.requestedBits;
  player.emit('downloadheadersreceived', { request, headers: { 'content-encoding': 'gzip', 'content-length': '7' } });
  expect(handle.state.requestedBits).toBe(estimated);
  player.emit('downloadheadersreceived', { request, headers: { 'content-length': '1000' } });
  expect(handle.state.requestedBits).toBe(8000);
});

test("a request that Shaka's timer ends is no abandonment, and its repetition is another download", () => {
  const { player, handle, decided } = loaded();
  const { request, context } = player.request(0);
  wait(1);
  player.emit('downloadfailed', { request, error: { code: 7001 }, aborted: true });
  expect(handle.state).toMatchObject({ requestedBits: 0, wastedBits: 0 });
  wait(1);
  // Shaka 4 does not call its filters again.
  player.manager!.segmentDownloaded(100, 1e5, true, request, context);
  wait(1);
  player.emit('downloadcompleted', { request, response: { data: { byteLength: 5e5 } } });
  expect(decided().downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
});

test('init segments and audio are no video downloads', () => {
  const { player, handle, decided } = loaded();
  player.request(0, INIT_SEGMENT);
  expect(handle.state.nowSeconds).toBe(0);
  const context = { type: 1, stream: player.audio[0]!, segment: segmentAt(0) };
  for (const filter of player.filters) filter(1, { uris: [], headers: {} }, context);
  wait(2);
  expect(handle.state.nowSeconds).toBeCloseTo(2);
  expect(handle.state.requestedBits).toBe(0);
  expect(decided().segmentIndex).toBe(0);
});

test('takes sizes from the segment index', () => {
  const player = new FakePlayer();
  player.variants[1]!.video!.segmentIndex = {
    find: (seconds) => Math.floor(seconds / 4),
    get: (position) => segmentAt(position, 1000 * position, 1000 * position + 499),
  };
  const { controller } = loaded(player);
  expect(controller.states[0]!.upcomingSizesBits[0]).toEqual([4e6, 4000, 16e6]);
  expect(controller.states[0]!.segmentsRemaining).toBe(10);
});
