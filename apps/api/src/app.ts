import { dashboardPlugin } from '@carillon/web/dashboard';
import { acceptsPage, sendNotFound } from '@carillon/web/http/errors';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import { buildDashboardOptions, describeService } from './actions/web/dashboard-options.ts';
import { agentRoutes } from './agent/routes.ts';
import { alertsRoutes } from './alerts/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { authenticateRequests, authorizeRequests } from './auth/guard.ts';
import { keysRoutes } from './auth/keys/routes.ts';
import { oauthRoutes } from './auth/oauth-routes.ts';
import { authRoutes } from './auth/routes.ts';
import { registerSessionTokens } from './auth/tokens.ts';
import { channelsRoutes } from './channels/routes.ts';
import type { Context } from './context.ts';
import { couponsRoutes } from './coupons/routes.ts';
import { cronRoutes } from './cron/routes.ts';
import { eventsRoutes } from './events/routes.ts';
import { executionsRoutes } from './executions/routes.ts';
import { feedsRoutes } from './feeds/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { registerJsonParser } from './http/bodies.ts';
import { registerCsrfProtection } from './http/csrf.ts';
import { rejectUnknownRoutes, setErrorHandlers } from './http/error-handler.ts';
import { closeGracefully } from './http/graceful-shutdown.ts';
import { registerIdempotency } from './http/idempotency/register.ts';
import { logRequests } from './http/logging.ts';
import { MAX_EVENT_LOOP_DELAY_MS, refuseUntilStarted, shedLoad } from './http/overload.ts';
import { registerRateLimits } from './http/rate-limits.ts';
import { registerSecurityHeaders } from './http/security-headers.ts';
import { serverOptions, setCommonHeaders, TIMEOUTS, type Timeouts } from './http/server.ts';
import { traceRequests } from './http/tracing.ts';
import { assertStorable, nameUnknownQueryParameters, registerContractValidation } from './http/validation.ts';
import { integrationsRoutes } from './integrations/routes.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { notificationsRoutes } from './notifications/routes.ts';
import { serveDocs } from './openapi/serve.ts';
import { settingsRoutes } from './settings/routes.ts';
import { statsRoutes } from './stats/routes.ts';
import { tasksRoutes } from './tasks/routes.ts';
import { filesRoutes, uploadsRoutes } from './uploads/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { adminUsersRoutes } from './users/admin/routes.ts';
import { usersRoutes } from './users/routes.ts';
import { webhooksRoutes } from './webhooks/routes.ts';

export interface AppOptions {
  timeouts?: Timeouts;
  maxEventLoopDelayMs?: number;
  keepAliveGraceMs?: number;
  routes?: (app: FastifyInstance, ctx: Context) => void;
}

export async function buildApp(
  ctx: Context,
  { timeouts = TIMEOUTS, maxEventLoopDelayMs = MAX_EVENT_LOOP_DELAY_MS, keepAliveGraceMs = 0, routes }: AppOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify(serverOptions(ctx, timeouts));

  setErrorHandlers(app, ctx.now);
  registerJsonParser(app);
  registerContractValidation(app, ctx);
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(reply, request.id);
    done();
  });
  closeGracefully(app, keepAliveGraceMs);
  traceRequests(app, ctx);
  logRequests(app, ctx);
  registerSecurityHeaders(app, ctx.config);
  nameUnknownQueryParameters(app);
  shedLoad(app, ctx, maxEventLoopDelayMs);
  refuseUntilStarted(app, ctx);

  // The guard demands `access` of every later route.
  await app.register(cookie);
  ctx.tokens = await registerSessionTokens(app, ctx.config);
  await serveDocs(app, ctx.config);

  authenticateRequests(app, ctx);
  await registerRateLimits(app, ctx);
  registerCsrfProtection(app, ctx.config);
  authorizeRequests(app, ctx);
  const dashboard = ctx.config.dashboard ? buildDashboardOptions(ctx) : null;
  rejectUnknownRoutes(app, (request, reply) => {
    if (!dashboard || !acceptsPage(request)) return false;
    sendNotFound(dashboard, request, reply);
    return true;
  });
  app.addHook('preValidation', (request, _reply, done) => {
    // Assistants read errors in the form of their protocol.
    if (request.routeOptions.config.access !== 'key') assertStorable(request);
    done();
  });
  registerIdempotency(app);

  if (dashboard) await app.register(dashboardPlugin, dashboard);
  else app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async () => describeService());
  app.register(healthRoutes, { ctx });
  app.register(authRoutes, { ctx });
  app.register(oauthRoutes, { ctx });
  app.register(usersRoutes, { ctx });
  app.register(adminUsersRoutes, { ctx });
  app.register(keysRoutes, { ctx });
  app.register(tasksRoutes, { ctx });
  app.register(executionsRoutes, { ctx });
  app.register(alertsRoutes, { ctx });
  app.register(feedsRoutes, { ctx });
  app.register(eventsRoutes, { ctx });
  app.register(agentRoutes, { ctx });
  app.register(mcpRoutes, { ctx });
  app.register(webhooksRoutes, { ctx });
  app.register(channelsRoutes, { ctx });
  app.register(usageRoutes, { ctx });
  app.register(integrationsRoutes, { ctx });
  app.register(notificationsRoutes, { ctx });
  app.register(couponsRoutes, { ctx });
  app.register(settingsRoutes, { ctx });
  app.register(auditRoutes, { ctx });
  app.register(statsRoutes, { ctx });
  app.register(cronRoutes, { ctx });
  app.register(uploadsRoutes, { ctx });
  if (ctx.config.storage.driver === 'disk') app.register(filesRoutes, { ctx });

  routes?.(app, ctx);
  await app.ready();
  return app;
}
