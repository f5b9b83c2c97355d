import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Page {
  body?: string;
  type?: string;
  status?: number;
  headers?: Record<string, string>;
  /** Answers 304 to this validator, and sends it. */
  etag?: string;
  /** Never answers. */
  hangs?: boolean;
}

export interface PageServer {
  url: string;
  port: number;
  /** The paths that were asked for, in order. */
  readonly paths: string[];
  /** Sets the answer of a path. */
  set(path: string, page: Page | ((request: IncomingMessage) => Page)): void;
  close(): Promise<void>;
}

/** Starts a site of pages for sources. Unknown paths are 404. */
export async function startPageServer(): Promise<PageServer> {
  const pages = new Map<string, Page | ((request: IncomingMessage) => Page)>();
  const paths: string[] = [];

  function answer(request: IncomingMessage, response: ServerResponse) {
    const path = request.url ?? '/';
    paths.push(path);
    const found = pages.get(path) ?? { status: 404 };
    const {
      body = '',
      type = 'text/plain',
      status = 200,
      headers = {},
      etag,
      hangs,
    } = typeof found === 'function' ? found(request) : found;
    if (hangs) return;
    if (etag !== undefined && request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    response.writeHead(status, { 'content-type': type, ...(etag && { etag }), ...headers }).end(body);
  }

  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    paths,
    set: (path, page) => void pages.set(path, page),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
