import compress from '@fastify/compress';
import formbody from '@fastify/formbody';
import type { FastifyPluginAsync } from 'fastify';
import { serveAssets } from './http/assets.ts';
import { demandCsrfTokens } from './http/csrf.ts';
import { acceptsHtml, showErrorPages } from './http/errors.ts';
import { acceptFiles } from './http/multipart.ts';
import { createPageRoutes } from './http/routes.ts';
import { setPageHeaders } from './http/security.ts';
import type { Dashboard } from './page.ts';
import { accountPages } from './pages/account/pages.ts';
import { adminPages } from './pages/admin/pages.ts';
import { agentPages } from './pages/agent/pages.ts';
import { appPages } from './pages/apps/pages.ts';
import { channelPages } from './pages/channels/pages.ts';
import { filePages } from './pages/files/list.ts';
import { searchPages } from './pages/home/search.ts';
import { homePages } from './pages/home/show.ts';
import { notificationPages } from './pages/notifications/pages.ts';
import { runPages } from './pages/runs/pages.ts';
import { feedPages } from './pages/settings/feed-pages.ts';
import { settingsPages } from './pages/settings/pages.ts';
import { taskFormPages } from './pages/task-form/pages.ts';
import { versionPages } from './pages/task-versions/pages.ts';
import { taskPages } from './pages/tasks/pages.ts';
import { templatePages } from './pages/templates/pages.ts';
import { usagePages } from './pages/usage/pages.ts';
import { webhookPages } from './pages/webhooks/pages.ts';

/** No field of a form is longer than a prompt. */
const MAX_FORM_BYTES = 1024 * 1024;

/** The pages of the dashboard. The routes have the access `page`: they find the session by themselves. */
export const dashboardPlugin: FastifyPluginAsync<Dashboard> = async (app, dashboard) => {
  await app.register(compress, { encodings: ['br', 'gzip'] });
  await app.register(formbody, { bodyLimit: MAX_FORM_BYTES });
  // Programs ask for `/` too.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url !== '/' || acceptsHtml(request.headers.accept)) return done();
    reply.header('vary', 'Origin, Accept').send(dashboard.describeService());
  });
  setPageHeaders(app);
  app.addHook('onRequest', (request, _reply, done) => {
    request.cookies = app.parseCookie(request.headers.cookie ?? '');
    done();
  });
  showErrorPages(app, dashboard);
  serveAssets(app);
  await acceptFiles(app, dashboard);
  await demandCsrfTokens(app, dashboard);
  const routes = createPageRoutes(app, dashboard);
  accountPages(routes);
  adminPages(routes);
  agentPages(routes);
  appPages(routes);
  channelPages(routes);
  filePages(routes);
  homePages(routes);
  runPages(routes);
  searchPages(routes);
  feedPages(routes);
  settingsPages(routes);
  taskPages(routes);
  versionPages(routes);
  taskFormPages(routes);
  templatePages(routes);
  webhookPages(routes);
  notificationPages(routes);
  usagePages(routes);
};
