/**
 * The process of the service in `bench-service.js`: `<port> [folder of its recordings]`. It sends its URL, and
 * on request its memory and processor time.
 */
import { syntheticDish } from '../service/fake-dish/simulated-dish.ts';
import { startService } from '../service/start-service.ts';

const [port = '0', folder] = process.argv.slice(2);
const faults = [];
const running = await startService({
  version: 'bench',
  port: Number(port),
  ...(folder !== undefined && { recording: { directory: folder, maxBytes: 1e9 } }),
  dish: syntheticDish({ seed: 1 }),
  location: { latitudeDegrees: 48.1, longitudeDegrees: 11.6, altitudeMetres: 500 },
  limits: { rate: { perSecond: 1e6, burst: 1e6 } },
  onFault: (error) => faults.push(error.message),
});
process.on('message', async (message) => {
  if (message === 'usage') {
    if (globalThis.gc) globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    process.send({ rss, heapUsed, cpu: process.cpuUsage(), faults, slowReaders: running.service.stream.slowReaders });
  } else {
    await running.close();
    process.exit();
  }
});
process.send({ url: running.url });
