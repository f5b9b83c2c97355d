import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { ConfigError } from '../config/config.ts';
import { addGauges, type GaugeSources } from './gauges.ts';
import { createInstruments } from './instruments.ts';
import type { Metrics } from './metrics.ts';

const REQUEST_TIMEOUT_MS = 5000;

interface Address {
  host: string;
  port: number;
}

/** Serves the metrics of this process at `GET /metrics`. Throws a `ConfigError` if it cannot listen. */
export async function startMetrics(
  address: Address,
  sources: GaugeSources,
): Promise<MetricsServer & { metrics: Metrics }> {
  const { registry, ...metrics } = createInstruments();
  const readGauges = addGauges(registry, sources);
  const server = await startMetricsServer(sources, address, async () => {
    await readGauges();
    return { contentType: registry.contentType, text: await registry.metrics() };
  });
  return { ...server, metrics };
}

interface MetricsServer {
  url: string;
  close(): Promise<void>;
}

interface Page {
  contentType: string;
  text: string;
}

/** Without authentication, so on a port of its own, which the reverse proxy does not expose. Throws a `ConfigError`. */
export async function startMetricsServer(
  { log }: { log: Logger },
  { host, port }: Address,
  scrape: () => Promise<Page>,
): Promise<MetricsServer> {
  const server = createServer(
    { headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    (request, response) => {
      answer(request, response, scrape).catch((error) => {
        log.error({ err: error }, 'metrics scrape failed');
        response.writeHead(500).end();
      });
    },
  );
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw toConfigError(error as NodeJS.ErrnoException, host, port);
  }
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}/metrics`;
  log.info({ url }, 'metrics');
  return {
    url,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer({ method, url }: IncomingMessage, response: ServerResponse, scrape: () => Promise<Page>) {
  if (url?.split('?', 1)[0] !== '/metrics') return response.writeHead(404).end();
  if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end();
  const { contentType, text } = await scrape();
  return response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
}

function toConfigError({ code, message }: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  if (code === 'EADDRINUSE') {
    return new ConfigError(`METRICS_PORT is ${port}, which is taken: stop the other program or set another one.`);
  }
  if (code === 'EACCES') {
    return new ConfigError(`METRICS_PORT is ${port}, which is not open to this user: set it to 1024 or above.`);
  }
  return new ConfigError(
    `METRICS_HOST is ${JSON.stringify(host)}, which this machine cannot listen at (${code ?? message}).`,
  );
}
