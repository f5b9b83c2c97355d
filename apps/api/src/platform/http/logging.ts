import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Successes are logged at `debug`, because machines poll the route. */
    routine?: boolean;
  }
  interface FastifyRequest {
    /** When an answer that may take hours began: its time says nothing about the speed of the service. */
    streamBeganAfterMs: number | null;
    /** More of its line in the log: no text that a user wrote. */
    logFields: Record<string, string> | null;
  }
}

/** Logs the pattern of the route, because the URL may contain a token or a webhook's secret. */
export function logRequests(app: FastifyInstance, { metrics }: Pick<Context, 'metrics'>): void {
  app.decorateRequest('streamBeganAfterMs', null);
  app.decorateRequest('logFields', null);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, callerOrNull } = request;
    const { statusCode, elapsedTime } = reply;
    const route = request.is404 ? null : (routeOptions.url ?? null);
    metrics.requestAnswered({ method, route, statusCode, ms: request.streamBeganAfterMs ?? elapsedTime });
    const level = routeOptions.config.routine && statusCode < 400 ? 'debug' : 'info';
    request.log[level](
      {
        method,
        route,
        status: statusCode,
        ms: Math.round(elapsedTime),
        userId: callerOrNull?.id,
        keyId: callerOrNull?.apiKey?.id,
        ...request.logFields,
      },
      'request',
    );
    done();
  });
}
