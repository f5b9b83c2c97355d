import { dashboardPlugin } from '@carillon/web/dashboard';
import { acceptsPage, sendNotFound } from '@carillon/web/http/errors';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { buildDashboardOptions, describeService } from '../handlers/actions/web/dashboard-options.ts';
import { mcpRoutes } from '../handlers/mcp/routes.ts';
import { serveDocs } from '../handlers/openapi/serve.ts';
import { eventsRoutes } from '../platform/events/routes.ts';
import {
  closeGracefully,
  MAX_EVENT_LOOP_DELAY_MS,
  measureOutages,
  rejectUnderOverload,
  rejectUntilReady,
} from '../platform/http/availability.ts';
import { registerJsonParser } from '../platform/http/bodies.ts';
import { registerCsrfProtection, registerSecurityHeaders } from '../platform/http/cross-origin.ts';
import { setErrorHandlers } from '../platform/http/error-handler.ts';
import { registerIdempotency } from '../platform/http/idempotency/register.ts';
import { logRequests, traceRequests } from '../platform/http/logging.ts';
import { registerRateLimits } from '../platform/http/rate-limits.ts';
import {
  registerCommonHeaders,
  rejectUnknownRoutes,
  serverOptions,
  TIMEOUTS,
  type Timeouts,
} from '../platform/http/server.ts';
import {
  nameUnknownQueryParameters,
  registerContractValidation,
  rejectUnstorable,
} from '../platform/http/validation.ts';
import { agentRoutes } from '../product/agent/routes.ts';
import { factorRoutes } from '../product/auth/factors/routes.ts';
import { authenticateRequests, authorizeRequests } from '../product/auth/guard.ts';
import { keysRoutes } from '../product/auth/keys/routes.ts';
import { oauthRoutes } from '../product/auth/oauth-routes.ts';
import { appsRoutes, oauthServerRoutes } from '../product/auth/oauth-server/routes.ts';
import { authRoutes } from '../product/auth/routes.ts';
import { registerSessionTokens } from '../product/auth/tokens.ts';
import { channelsRoutes } from '../product/deliveries/channels/routes.ts';
import { feedsRoutes } from '../product/deliveries/feeds/routes.ts';
import { webhooksRoutes } from '../product/deliveries/webhooks/routes.ts';
import { inboundRoutes } from '../product/executions/inbound-routes.ts';
import { providersRoutes } from '../product/executions/request/providers/routes.ts';
import { executionsRoutes } from '../product/executions/routes.ts';
import { alertsRoutes, notificationsRoutes } from '../product/notifications/routes.ts';
import { secretsRoutes } from '../product/secrets/routes.ts';
import { sourcesRoutes } from '../product/sources/routes.ts';
import { auditRoutes, cronRoutes, healthRoutes, settingsRoutes, statsRoutes } from '../product/system/routes.ts';
import { taskFilesRoutes } from '../product/tasks/files/routes.ts';
import { tasksRoutes } from '../product/tasks/routes.ts';
import { filesRoutes, uploadsRoutes } from '../product/uploads/routes.ts';
import { usageRoutes } from '../product/usage/routes.ts';
import { adminUsersRoutes } from '../product/users/admin/routes.ts';
import { couponsRoutes } from '../product/users/coupons/routes.ts';
import { integrationsRoutes } from '../product/users/integrations/routes.ts';
import { usersRoutes } from '../product/users/routes.ts';

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

  setErrorHandlers(app);
  measureOutages(app, ctx.now);
  registerJsonParser(app);
  registerContractValidation(app, ctx);
  registerCommonHeaders(app);
  closeGracefully(app, keepAliveGraceMs);
  traceRequests(app, ctx);
  logRequests(app, ctx);
  registerSecurityHeaders(app, ctx.config);
  nameUnknownQueryParameters(app);
  rejectUnderOverload(app, ctx, maxEventLoopDelayMs);
  rejectUntilReady(app, ctx);

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
  rejectUnstorable(app);
  registerIdempotency(app);

  if (dashboard) await app.register(dashboardPlugin, dashboard);
  else app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async () => describeService());
  app.register(healthRoutes, { ctx });
  app.register(authRoutes, { ctx });
  app.register(factorRoutes, { ctx });
  app.register(oauthRoutes, { ctx });
  app.register(appsRoutes, { ctx });
  if (ctx.config.dashboard) app.register(oauthServerRoutes, { ctx });
  app.register(usersRoutes, { ctx });
  app.register(adminUsersRoutes, { ctx });
  app.register(keysRoutes, { ctx });
  app.register(secretsRoutes, { ctx });
  app.register(sourcesRoutes, { ctx });
  app.register(tasksRoutes, { ctx });
  app.register(taskFilesRoutes, { ctx });
  app.register(executionsRoutes, { ctx });
  app.register(alertsRoutes, { ctx });
  app.register(feedsRoutes, { ctx });
  app.register(eventsRoutes, { ctx });
  app.register(agentRoutes, { ctx });
  app.register(mcpRoutes, { ctx });
  app.register(webhooksRoutes, { ctx });
  app.register(inboundRoutes, { ctx });
  app.register(channelsRoutes, { ctx });
  app.register(usageRoutes, { ctx });
  app.register(integrationsRoutes, { ctx });
  app.register(notificationsRoutes, { ctx });
  app.register(couponsRoutes, { ctx });
  app.register(settingsRoutes, { ctx });
  app.register(providersRoutes, { ctx });
  app.register(auditRoutes, { ctx });
  app.register(statsRoutes, { ctx });
  app.register(cronRoutes, { ctx });
  app.register(uploadsRoutes, { ctx });
  if (ctx.config.storage.driver === 'disk') app.register(filesRoutes, { ctx });

  routes?.(app, ctx);
  await app.ready();
  return app;
}
