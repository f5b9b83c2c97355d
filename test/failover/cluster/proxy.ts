import { connect, createServer, type Socket } from 'node:net';
import { findStablePort } from '../../system/ports.ts';
import { closeWith } from '../../system/shutdown.ts';

export interface CuttableProxy {
  port: number;
  /** Like a pulled cable: nothing passes, and nothing is closed. New connections are accepted and never answered. */
  cut(): void;
  /** Closes what was open during the cut, as the timeouts of TCP do, and lets new connections pass. */
  restore(): void;
}

/** Forwards connections of loopback to `target`. Closes with `stack`. */
export async function startCuttableProxy(stack: AsyncDisposableStack, target: number): Promise<CuttableProxy> {
  const port = await findStablePort();
  const sockets = new Set<Socket>();
  let isCut = false;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    return socket.setNoDelay(true);
  };
  const server = createServer({ noDelay: true }, (client) => {
    track(client);
    if (isCut) return;
    const upstream = track(connect({ port: target, host: '127.0.0.1' }));
    client.pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  closeWith(stack, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore() {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
