import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ReceivedCounts, ReceivedDelivery } from './receiver.ts';

const createCounts = (): ReceivedCounts => ({ count: 0, firstAt: 0, lastAt: 0, agesMs: [] });

// Below /timed the age of the event is recorded, below /recorded the execution.
let counts = createCounts();
let deliveries: ReceivedDelivery[] = [];
const server = createServer(async (request, response) => {
  const at = Date.now();
  const path = request.url ?? '';
  if (request.method === 'GET' && path === '/recorded') {
    response.end(JSON.stringify(deliveries));
    deliveries = [];
    return;
  }
  if (request.method === 'GET') {
    response.end(JSON.stringify(counts));
    counts = createCounts();
    return;
  }
  const body = await text(request);
  if (path.startsWith('/timed')) counts.agesMs.push(at - Date.parse(JSON.parse(body).timestamp));
  if (path.startsWith('/recorded')) {
    deliveries.push({ id: String(request.headers['webhook-id']), executionId: JSON.parse(body).data.execution.id });
  }
  counts.count += 1;
  counts.firstAt ||= at;
  counts.lastAt = at;
  response.writeHead(204).end();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096);
await once(server, 'listening');
console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
