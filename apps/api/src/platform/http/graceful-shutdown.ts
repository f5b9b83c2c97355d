import { Server as HttpServer } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Makes `app.close()` answer requests on open connections, and close idle ones after `keepAliveGraceMs`. */
export function closeGracefully(app: FastifyInstance, keepAliveGraceMs: number): void {
  const { server } = app;
  let isClosing = false;
  let grace: NodeJS.Timeout | undefined;

  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A kept connection would delay the end of the process by more than a minute.
    if (isClosing) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (_request, _reply, done) => {
    // An answer that began before the close has promised to keep its connection for the next request.
    grace?.refresh();
    done();
  });

  // Node's own close, which Fastify calls, destroys idle connections with the requests on their way.
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
