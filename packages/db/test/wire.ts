import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy to the test server that can be cut and frozen. */
export interface Wire {
  url: string;
  /** Number of connections so far. */
  count(): number;
  /** Keeps connections open and forwards nothing; with `isNewToo`, on new connections as well. */
  freeze(isNewToo: boolean): void;
  thaw(): void;
  /** Half-closes every connection, as a stopping server does. */
  hangUp(): void;
  /** Breaks all connections, and refuses new ones until `restore`. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

interface Test {
  teardown(work: () => unknown): unknown;
}

/** Opens a proxy to the server of `url`, closed at the end of `t`. */
export async function openWire(t: Test, url: string): Promise<Wire> {
  const address = new URL(url);
  const target = { host: address.hostname, port: Number(address.port) };
  const pairs = new Set<[Socket, Socket]>();
  let count = 0;
  let isFrozen = false;
  const server = createServer((near) => {
    count += 1;
    const far = connect(target);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
    if (isFrozen) stop(pair);
  });
  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening');
  const breakAll = () => {
    for (const [near] of pairs) near.destroy();
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    breakAll();
    server.close();
  });
  address.host = `127.0.0.1:${port}`;
  return {
    url: address.href,
    count: () => count,
    freeze(isNewToo) {
      isFrozen = isNewToo;
      for (const pair of pairs) stop(pair);
    },
    thaw() {
      isFrozen = false;
      for (const [near, far] of pairs) {
        near.pipe(far);
        far.pipe(near);
      }
    },
    hangUp() {
      for (const [near] of pairs) near.end();
    },
    async cut() {
      const closed = once(server, 'close');
      server.close();
      breakAll();
      await closed;
    },
    restore: async () => void (await listen(port)),
  };
}

function stop([near, far]: [Socket, Socket]) {
  for (const socket of [near, far]) {
    socket.unpipe();
    socket.pause();
  }
}
