import { Server as HttpServer } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Lets `app.close()` lose no request: the listener closes at once, so that a proxy sends new connections elsewhere; what
 * comes over connections that are open is served, and told to come no more; a connection on which nothing happens is
 * closed once no answer has ended for `lingerMs`. Resolves when the last one is gone.
 */
export function closeGracefully(app: FastifyInstance, lingerMs: number): void {
  const { server } = app;
  let isClosing = false;
  let linger: NodeJS.Timeout | undefined;

  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Kept alive, the connection of a request that was under way would keep the process for more than a minute.
    if (isClosing) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    // An answer that had begun before has promised to keep its connection, which is then the first to be used again.
    linger?.refresh();
    done();
  });

  // Node's own, which Fastify calls, cuts idle connections at once: the requests that are on their way over one are lost,
  // and those that change something are nobody's to send again.
  server.close = (done) => {
    linger = setTimeout(() => server.closeIdleConnections(), lingerMs);
    server.once('close', () => {
      clearTimeout(linger);
      linger = undefined;
      // Ends its look for slow clients, which were to be given up until now.
      HttpServer.prototype.close.call(server);
    });
    NetServer.prototype.close.call(server, done);
    return server;
  };
}
