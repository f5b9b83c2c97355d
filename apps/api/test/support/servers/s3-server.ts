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
 * S3 is spoken by s3rver, in the fork that is kept up (@20minutes/s3rver): plain JavaScript from npm, which downloads
 * nothing when it is installed and runs in this process. It checks the signatures (version 4) of requests that have one,
 * reads without one as from a public bucket, and knows none of the newer checksum trailers, like many a service that
 * people run. It does not check Content-MD5 and takes requests without a length, so those are looked at in `requests`.
 */
interface S3rver {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  configureBuckets(): Promise<unknown>;
  logger: { close(): void };
}
const S3rver: new (options: object) => S3rver = createRequire(import.meta.url)('@20minutes/s3rver');

const BUCKET = 'carillon-files';

/**
 * What it does with a request: what S3 does, or it answers with a status alone, never answers, ends the connection,
 * stops in the middle of an object, or sends one a byte at a time.
 */
export type S3Behavior = 'serve' | 'hang' | 'cut' | 'stall' | 'drip' | number;

export interface S3Server {
  /** The settings that make it the storage. */
  env: Record<string, string>;
  /** What was asked, oldest first. */
  requests: { method: string; path: string; headers: IncomingHttpHeaders }[];
  /** What it does from now on, or with each next request in turn; `serve` unless told. */
  answer(...moods: [S3Behavior, ...S3Behavior[]]): void;
  /** Goes away, together with its connections. */
  stop(): Promise<void>;
  /** Comes back under the same address. */
  start(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** An S3 server with one bucket; it goes away at the end of `t`. */
export async function startS3(t: Test): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'carillon-s3-'));
  const buckets = [{ name: BUCKET }];
  const s3 = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets: buckets });
  await s3.configureBuckets();
  const serve = s3.callback();
  const requests: S3Server['requests'] = [];
  const sockets = new Set<Socket>();
  let moods: S3Behavior[] = ['serve'];
  let server: Server | null = null;
  let port = 0;

  function take(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers });
    const mood = (moods.length > 1 ? moods.shift() : moods[0]) ?? 'serve';
    if (mood === 'serve') return serve(request, response);
    if (mood === 'hang') return;
    if (mood === 'cut') return void request.socket.destroy();
    request.resume();
    if (typeof mood === 'number') return void response.writeHead(mood).end();
    response.writeHead(200, { 'content-length': 1_000_000 }).write('x');
    if (mood === 'stall') return;
    const drops = setInterval(() => response.write('x'), 10);
    response.once('close', () => clearInterval(drops));
  }

  async function start() {
    server = createServer(take);
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
      // The account that s3rver knows.
      S3_ACCESS_KEY_ID: 'S3RVER',
      S3_SECRET_ACCESS_KEY: 'S3RVER',
    },
    requests,
    answer: (...given) => {
      moods = given;
    },
    stop,
    start,
  };
}
