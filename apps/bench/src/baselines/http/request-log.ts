import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';

/** Carillon writes its log in pieces of this length. */
const BUFFER_LENGTH = 12_288;

/** A log in the file `LOG_FILE`, which a full buffer is written to without blocking. */
export const openLog = (): Logger =>
  pino(pino.destination({ dest: process.env.LOG_FILE ?? '', sync: false, minLength: BUFFER_LENGTH }));

/** Logs one line for each request, with the fields of Carillon's line. */
export function logRequests(app: FastifyInstance, getUserId: (request: object) => number | undefined): void {
  app.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    const { method, routeOptions } = request;
    const ms = Math.round(elapsedTime);
    const userId = getUserId(request);
    request.log.info({ method, route: routeOptions.url, status: statusCode, ms, userId }, 'request');
    done();
  });
}
