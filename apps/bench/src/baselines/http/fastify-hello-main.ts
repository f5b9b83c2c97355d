import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { logRequests, openLog } from './request-log.ts';
import { printReady } from './server.ts';

const withLog = process.env.LOG_FILE !== undefined;
const app = Fastify({
  ...(withLog && { loggerInstance: openLog() as FastifyBaseLogger }),
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
});
if (withLog) logRequests(app, () => undefined);
const hello = { type: 'object', properties: { hello: { type: 'string' } } };
app.get('/hello', { schema: { response: { 200: hello } } }, async () => ({ hello: 'world' }));
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
