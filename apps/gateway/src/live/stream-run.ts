import type { ServerResponse } from 'node:http';
import type { RunAddress } from '@rondo/persistence';
import type { RunSubscriptions, Watch } from './run-subscriptions';
import { SseSink } from './sse-sink';

const keepAliveMs = 15_000;
const reconnectMs = 1_000;

/** Serves one client's event stream until the run is over, the client is gone, or it reads too slowly. */
export async function streamRun(
  hub: RunSubscriptions,
  address: RunAddress,
  { response, ...watch }: Omit<Watch, 'sink'> & { response: ServerResponse },
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  response.write(`retry: ${reconnectMs}\n\n`);

  const sink = new SseSink(response);
  const keepAlive = setInterval(() => sink.keepAlive(), keepAliveMs);
  const ending = await hub
    .follow(address, { ...watch, sink })
    .then((watched) => watched.ending)
    .finally(() => clearInterval(keepAlive));
  if (ending === 'stalled') response.destroy();
  else response.end();
}
