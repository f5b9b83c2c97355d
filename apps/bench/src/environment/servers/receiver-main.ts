import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ReceivedCounts } from './receiver.ts';

const nothing = (): ReceivedCounts => ({ count: 0, firstAt: 0, lastAt: 0, agesMs: [] });

// The receivers as a process of their own: below /hang they never answer, below /timed they look at the event's time.
let taken = nothing();
const server = createServer(async (request, response) => {
  const at = Date.now();
  const path = request.url ?? '';
  if (request.method === 'GET') {
    response.end(JSON.stringify(taken));
    taken = nothing();
    return;
  }
  if (path.startsWith('/hang')) return;
  const body = await text(request);
  if (path.startsWith('/timed')) taken.agesMs.push(at - Date.parse(JSON.parse(body).timestamp));
  taken.count += 1;
  taken.firstAt ||= at;
  taken.lastAt = at;
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
