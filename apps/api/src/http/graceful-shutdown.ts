import { Server as HttpServer } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Lets `app.close()` lose no request. The listener closes at once, so that a proxy opens new connections elsewhere.
 * Requests on open connections are answered with `Connection: close`. Idle connections are closed `keepAliveGraceMs`
 * after the last answer. `app.close()` resolves when all connections are closed.
 */
export function closeGracefully(app: FastifyInstance, keepAliveGraceMs: number): void {
  const { server } = app;
  let isClosing = false;
  let grace: NodeJS.Timeout | undefined;

  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Kept alive, a connection would keep the process for more than a minute.
    if (isClosing) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    // An answer that began before the close has promised to keep its connection, so the next request may come there.
    grace?.refresh();
    done();
  });

  // Node's own close, which Fastify calls, destroys idle connections at once and with them requests on their way.
  server.close = (done) => {
    grace = setTimeout(() => server.closeIdleConnections(), keepAliveGraceMs);
    server.once('close', () => {
      clearTimeout(grace);
      grace = undefined;
      // Stops Node's check of slow clients, which has to run until here.
      HttpServer.prototype.close.call(server);
    });
    NetServer.prototype.close.call(server, done);
    return server;
  };
}
