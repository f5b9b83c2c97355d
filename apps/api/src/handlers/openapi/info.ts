import { type Config, VERSION } from '../../lib/config/config.ts';
import { SESSION_COOKIE } from '../../platform/http/credentials.ts';

const INTRODUCTION = `Carillon runs AI prompts on a schedule, stores the result of each run, and reports runs by signed webhooks.

**Authentication.** \`POST /api/auth/login\` with the header \`X-Request-Token: true\` returns a token: send it as
\`Authorization: Bearer <token>\`. Browsers use the cookie of the same response. Both expire after 7 days.
Programs send an API key of \`POST /api/keys\` instead, as \`Authorization: Bearer crl_…\`: each operation names the
scope that the key needs.

**Bodies** are JSON in UTF-8 of at most 1 MiB, or 16 MiB where files can be given as data URLs; uploads are multipart
forms. Unknown fields are rejected; unknown query parameters are ignored, and named in the header
\`X-Unknown-Query-Parameters\`. Instants are ISO 8601; responses have them in
UTC with milliseconds.

**Errors** have the form of the schema \`ErrorResponse\`: \`success\` is \`false\`, \`error\` is the error in short,
\`message\` a sentence; the header \`X-Error-Code\` has its code for programs. A validation error has messages by field in \`details\`. A resource of another user is not found: 404.
Each response has an \`X-Request-ID\`, under which the log of the service has the request; callers may send their own.

**Lists** are newest first and paged by \`limit\` and \`offset\`. Where there is \`pagination.nextCursor\`, sending it as
\`cursor\` is faster, and neither repeats nor skips entries while others are added.

**Limits.** Each operation states its rate limit. Above it, the response is 429 with \`Retry-After\`; an exhausted quota of
the plan is 402. Rate limits may change: the \`X-RateLimit-*\` headers have the current ones.

**Retries.** GET and DELETE are safe to repeat: what is already deleted is 404. A POST without a response may have been
carried out: with an \`Idempotency-Key\` it is safe to repeat too, without one check first.

**Assistants** connect to \`POST /mcp\`, which speaks the Model Context Protocol: it has a description of its tools itself.`;

/** In the order of the document. */
const TAGS: [name: string, description: string][] = [
  ['auth', 'Registration, sign-in and sign-out, sessions, password resets, and OAuth sign-in.'],
  ['keys', 'API keys, with which programs call the API.'],
  ['secrets', 'Headers that sources of tasks send to their hosts.'],
  ['users', "The caller's profile, password and settings."],
  ['tasks', 'Prompts with a schedule, and the occurrences of their schedules.'],
  ['executions', 'Runs of tasks, with their results, errors, tokens and cost.'],
  ['alerts', 'Alerts of tasks that are overdue, failing, slow or expensive, with their deliveries.'],
  ['agent', 'Messages that are answered immediately, without a task.'],
  ['uploads', 'Files that tasks attach to their prompts.'],
  ['webhooks', 'Subscriptions to events, their delivery log, and inbound webhooks.'],
  ['channels', 'Chats, phones and mailboxes that receive results and alerts.'],
  ['feeds', 'Results as Atom feeds.'],
  ['events', 'The event log and its live stream.'],
  ['usage', 'Quotas, their usage, and alerts.'],
  ['notifications', 'Notifications of alerts, usage alerts, failed tasks and failed webhooks.'],
  ['integrations', 'Validation of credentials of third-party tools.'],
  ['coupons', 'Coupons that extend the trial.'],
  ['admin', 'Administration: users, coupons, settings, the audit log and statistics.'],
  ['cron', 'The trigger of the scheduler.'],
  ['health', 'Checks for load balancers and monitoring.'],
];

const SECURITY_SCHEMES = {
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session cookie of `POST /api/auth/login`: HttpOnly, SameSite=Lax, 7 days. For browsers; a request of another site that changes data is rejected with 403.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The session as a token: the `token` of `POST /api/auth/login` with `X-Request-Token: true`. Valid for 7 days; signing out ends it immediately.',
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'crl_ and 38 letters and digits',
    description:
      'An API key of `POST /api/keys`, in the header `Authorization` only. An operation needs the scope that it names; an operation without one takes no key.',
  },
  adminKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Admin-Key',
    description:
      '`ADMIN_KEY` of the installation, in addition to the session or the API key of an account with the role `ADMIN`.',
  },
  cron: {
    type: 'http',
    scheme: 'bearer',
    description: 'The scheduler secret `CRON_SECRET`, without a session.',
  },
} as const;

/** The parts of the OpenAPI document that are about the whole service. */
export const describeService = ({ appUrl }: Pick<Config, 'appUrl'>) => ({
  openapi: '3.1.0',
  info: {
    title: 'Carillon',
    version: VERSION,
    summary: 'Runs AI prompts on a schedule.',
    description: INTRODUCTION,
    // The operator of the installation is not known by name.
    contact: { name: 'The operator of this installation', url: appUrl },
    license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
  },
  servers: [{ url: '/', description: 'This installation' }],
  tags: TAGS.map(([name, description]) => ({ name, description })),
  components: { securitySchemes: SECURITY_SCHEMES },
});
