import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * The maintained fork of s3rver. It verifies version 4 signatures, but allows unsigned reads, does not know checksum
 * trailers, and checks neither Content-MD5 nor the length: tests check those in `requests`.
 */
interface S3rver {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  configureBuckets(): Promise<unknown>;
  logger: { close(): void };
}
const S3rver: new (options: object) => S3rver = createRequire(import.meta.url)('@20minutes/s3rver');

const BUCKET = 'carillon-files';

/** Serve as S3, never answer, cut the connection, stop within an object, send it byte by byte, or answer a status. */
export type S3Behavior = 'serve' | 'hang' | 'cut' | 'stall' | 'drip' | number;

export interface S3Server {
  env: Record<string, string>;
  /** Oldest first. */
  requests: { method: string; path: string; headers: IncomingHttpHeaders }[];
  /** Sets the behavior of the next requests, one each; the last one stays. Default: `serve`. */
  answer(...behaviors: [S3Behavior, ...S3Behavior[]]): void;
  /** Closes the server and its connections. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** Starts an S3 server with one bucket. Stops at the end of `t`. */
export async function startS3(t: Test): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-s3-'));
  const buckets = [{ name: BUCKET }];
  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets: buckets });
  await s3.configureBuckets();
  const serve = s3.callback();
  const requests: S3Server['requests'] = [];
  const sockets = new Set<Socket>();
  let behaviors: S3Behavior[] = ['serve'];
  let server: Server | null = null;
  let port = 0;

  function handle(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers });
    const behavior = (behaviors.length > 1 ? behaviors.shift() : behaviors[0]) ?? 'serve';
    if (behavior === 'serve') return serve(request, response);
    if (behavior === 'hang') return;
    if (behavior === 'cut') return void request.socket.destroy();
    request.resume();
    if (typeof behavior === 'number') return void response.writeHead(behavior).end();
    response.writeHead(200, { 'content-length': 1_000_000 }).write('x');
    if (behavior === 'stall') return;
    const timer = setInterval(() => response.write('x'), 10);
    response.once('close', () => clearInterval(timer));
  }

  async function start() {
    server = createServer(handle);
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }

  async function stop() {
    const stopped = server;
    server = null;
    if (!stopped) return;
    const closed = once(stopped, 'close');
    stopped.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await start();
  t.teardown(async () => {
    await stop();
    s3.logger.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    env: {
      STORAGE_DRIVER: 's3',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: BUCKET,
      // The built-in account of s3rver.
      S3_ACCESS_KEY_ID: 'S3RVER',
      S3_SECRET_ACCESS_KEY: 'S3RVER',
    },
    requests,
    answer: (...given) => {
      behaviors = given;
    },
    stop,
    start,
  };
}
