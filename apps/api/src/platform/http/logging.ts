import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import type { OpenSpan } from '../../lib/telemetry/tracing.ts';

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

declare module 'fastify' {
  interface FastifyRequest {
    span: OpenSpan | null;
  }
}

/** Names spans by the route's pattern, because the URL may contain a token or a webhook's secret. */
export function traceRequests(app: FastifyInstance, { trace }: Pick<Context, 'trace'>): void {
  if (!trace.isOn) return;
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers, id } = request;
    const route = request.is404 ? undefined : routeOptions.url;
    const { traceparent } = headers;
    const span = trace.begin(
      route === undefined ? method : `${method} ${route}`,
      {
        'http.request.method': method,
        'http.route': route,
        'url.scheme': request.protocol,
        'carillon.request_id': id,
      },
      { kind: 'server', ...(typeof traceparent === 'string' && { traceparent }) },
    );
    request.span = span;
    reply.raw.once('close', () => {
      const { statusCode, writableEnded } = reply.raw;
      span.set({ 'http.response.status_code': statusCode, 'carillon.user_id': request.callerOrNull?.id });
      if (!writableEnded) span.fail('client_closed');
      else if (statusCode >= 500) span.fail(`${statusCode}`);
      span.end();
    });
    span.run(done);
  });
  // The connection's events, which read the body, run outside of the span.
  app.addHook('preValidation', (request, _reply, done) => within(request.span, done));
  app.addHook('onResponse', (request, _reply, done) => within(request.span, done));
}

const within = (span: OpenSpan | null, done: () => void) => (span ? span.run(done) : done());
