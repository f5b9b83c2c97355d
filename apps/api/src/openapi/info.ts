import type { Config } from '../config/config.ts';
import { VERSION } from '../config/version.ts';
import { SESSION_COOKIE } from '../http/session-cookie.ts';

const INTRODUCTION = `Carillon runs AI prompts on a schedule, keeps what came of each run, and tells others of it by signed webhooks.

**Signing in.** \`POST /api/auth/login\` with the header \`X-Request-Token: true\` answers with a token: send it as
\`Authorization: Bearer <token>\`. A browser uses the cookie of the same answer. Both end after 7 days.

**Bodies** are JSON in UTF-8 of at most 1 MiB, 16 MiB where files may be given as data URLs; an upload is a form. Fields
that are not known are refused; unknown query parameters are ignored. Instants are ISO 8601, and leave in UTC with milliseconds.

**Errors** look like \`Error\`: \`success\` is \`false\`, \`error\` says what is wrong in short, \`message\` in a sentence.
A validation error has messages by field in \`details\`. What is not yours is answered as what does not exist: 404.
Each answer carries \`X-Request-ID\`, which finds it in the log of the service; a caller may send one of its own.

**Lists** are newest first. \`limit\` and \`offset\` make pages; where there is \`pagination.nextCursor\`, sending it as
\`cursor\` is faster, and neither repeats nor skips anything while others write.

**Limits.** Each operation names its own. Over it the answer is 429 with \`Retry-After\`; a quota of the plan that is used
up is 402. Rates may change: the headers \`X-RateLimit-*\` have those in force.

**Repeating.** GET and DELETE can be repeated safely: what is deleted already is 404. A POST that got no answer may have
been carried out; look before you repeat it.`;

/** Tags in the order in which a reader meets them. */
const TAGS: [name: string, description: string][] = [
  ['auth', 'Accounts, signing in and out, sessions, forgotten passwords, and sign-in by other providers.'],
  ['users', "The caller's profile, password and settings."],
  ['tasks', 'Prompts with a schedule: what runs, when, and what became of each planned run.'],
  ['executions', 'The runs of tasks, with their results, errors, tokens and cost.'],
  ['agent', 'Questions that are answered at once, without a task.'],
  ['uploads', 'Files that tasks hand to the model.'],
  ['webhooks', 'Addresses that are told of events, what was sent to them, and the way in for other systems.'],
  ['usage', 'Quotas, what is used of them, and alerts.'],
  ['notifications', 'What the dashboard shows: alerts, failed tasks, failed webhooks.'],
  ['integrations', 'Whether credentials of third-party tools work.'],
  ['coupons', 'Extending the trial.'],
  ['admin', 'For administrators: accounts, coupons, settings, the audit log and statistics.'],
  ['cron', 'The trigger of the scheduler.'],
  ['health', 'For load balancers and the monitoring.'],
];

const SECURITY_SCHEMES = {
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session, as `POST /api/auth/login` sets it: HttpOnly, SameSite=Lax, 7 days. For browsers; a request that changes something is refused with 403 when another site made it.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The same session as a token: the `token` of `POST /api/auth/login`, asked for by `X-Request-Token: true`. 7 days; logging out ends it at once.',
  },
  adminKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Admin-Key',
    description: 'The key of the installation, `ADMIN_KEY`, beside the session of an account with the role `ADMIN`.',
  },
  cron: {
    type: 'http',
    scheme: 'bearer',
    description: 'The secret of the scheduler, `CRON_SECRET`; no session.',
  },
} as const;

/** What the OpenAPI document says of the service as a whole. */
export const describeService = ({ baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>) => ({
  openapi: '3.1.0',
  info: {
    title: 'Carillon',
    version: VERSION,
    summary: 'Runs AI prompts on a schedule.',
    description: INTRODUCTION,
    // Whoever runs an installation answers for it: nobody else can be named here.
    contact: { name: 'Whoever runs this installation', url: appUrl },
    license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
  },
  servers: [{ url: baseUrl, description: 'This installation' }],
  tags: TAGS.map(([name, description]) => ({ name, description })),
  components: { securitySchemes: SECURITY_SCHEMES },
});
