import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CERTIFICATE, KEY } from './certificate.ts';

export interface Delivery {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** A webhook receiver with HTTPS, which production requires. */
export async function startReceiver(t: Test) {
  const received: Delivery[] = [];
  const server = createServer({ cert: CERTIFICATE, key: KEY }, async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `https://127.0.0.1:${port}/hooks`, received };
}
