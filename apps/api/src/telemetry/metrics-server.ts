import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../config/config.ts';
import type { Context } from '../context.ts';

/** A scrape is a few lines without a body. */
const PATIENCE_MS = 5000;

interface Page {
  contentType: string;
  text: string;
}

export interface MetricsServer {
  /** Where it really listens: `http://127.0.0.1:9464/metrics`. */
  url: string;
  close(): Promise<void>;
}

/**
 * Answers `GET /metrics` with what `scrape` returns, at a port of its own, so that the reverse proxy cannot pass it on by
 * accident. Nobody has to sign in. Throws a `ConfigError` where it cannot listen.
 */
export async function startMetricsServer(
  { log }: Pick<Context, 'log'>,
  { host, port }: { host: string; port: number },
  scrape: () => Promise<Page>,
): Promise<MetricsServer> {
  const patience = { headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS, connectionsCheckingInterval: 1000 };
  const server = createServer(patience, (request, response) => {
    answer(request, response, scrape).catch((error) => {
      log.error({ err: error }, 'the metrics could not be told');
      response.writeHead(500).end();
    });
  });
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, host, port);
  }
  const { address, port: taken, family } = server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}/metrics`;
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
  if (method !== 'GET') return response.writeHead(405, { allow: 'GET' }).end();
  const { contentType, text } = await scrape();
  return response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
}

function explain({ code, message }: NodeJS.ErrnoException, host: string, port: number): ConfigError {
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
