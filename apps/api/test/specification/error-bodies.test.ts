import { passwordResets, settings, usageCounters } from '@carillon/db';
import t, { type Test } from 'tap';
import { composeReset } from '../../src/product/auth/password-reset.ts';
import { ADMIN_KEY, testContext } from '../support/context.ts';
import { insertCoupon } from '../support/coupons.ts';
import { type Answer, assertExact, INSTANT, INTEGER, openCalls, TEXT } from '../support/exact-body.ts';
import { type Person, signUp, signUpAda, signUpAlice, signUpBob } from '../support/people.ts';
import { startFigmaServer } from '../support/servers/figma-server.ts';
import { getResetToken } from '../support/servers/mail-server.ts';
import { startNotionServer } from '../support/servers/notion-server.ts';
import { insertUpload, postTask } from '../support/tasks.ts';
import { inboundPath, postWebhook } from '../support/webhooks.ts';

/* The bodies of errors that interface.md and its decisions list, field by field, over HTTP. */

const HOUR_MS = 3_600_000;
const notion = await startNotionServer(t, {});
const figma = await startFigmaServer(t, {});
const { app, ctx, clock } = await testContext(t, {
  env: { NOTES_API_URL: notion.url, DESIGN_API_URL: figma.url, RATE_LIMIT_MULTIPLIER: '1' },
});
const call = await openCalls(app);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const ada = await signUpAda(app);

function assertRefused(t: Test, answer: Answer, status: number, code: string, body: object): void {
  const name = `${status} ${code}`;
  t.same([answer.status, answer.headers.get('x-error-code')], [status, code], name);
  assertExact(t, answer.body, body, name);
}

const refused = (error: unknown, rest: object = {}) => ({ success: false, error, ...rest });
const invalid = (...fields: string[]) =>
  refused('Validation error', { details: Object.fromEntries(fields.map((field) => [field, [TEXT]])) });
const limited = refused('Rate limit exceeded', {
  message: TEXT,
  details: { limit: INTEGER, remaining: 0, reset: INTEGER, resetIn: INTEGER, retryAfter: INTEGER },
});
const NOT_FOUND = refused(TEXT);

t.test('Registration', async (t) => {
  const register = (body: object) => call('POST', '/api/auth/register', { body });
  const carol = { name: 'Carol', email: alice.email, password: 'Carillon-2026' };
  assertRefused(t, await register({}), 400, 'VALIDATION_ERROR', invalid('name', 'email', 'password'));
  assertRefused(t, await register(carol), 409, 'CONFLICT', refused(TEXT));
  await register(carol);
  assertRefused(t, await register(carol), 429, 'RATE_LIMIT_EXCEEDED', { ...limited, retryAfter: INTEGER });
});

t.test('Log-in', async (t) => {
  const logIn = () => call('POST', '/api/auth/login', { body: { email: alice.email, password: 'Wrong-2026' } });
  for (let n = 1; n <= 5; n++) assertRefused(t, await logIn(), 401, 'INVALID_CREDENTIALS', refused(TEXT));
  assertRefused(t, await logIn(), 429, 'RATE_LIMIT_EXCEEDED', { ...limited, retryAfter: INTEGER });
});

t.test('Sessions', async (t) => {
  assertRefused(t, await call('GET', '/api/auth/session'), 401, 'AUTH_REQUIRED', { authenticated: false });
  const unauthorized = refused('Unauthorized', { message: TEXT });
  for (const path of ['/api/user', '/api/admin/stats', '/api/cron/scheduler'])
    assertRefused(t, await call('GET', path), 401, 'AUTH_REQUIRED', unauthorized);
  for (const path of ['/api/upload', '/api/integrations/notes/validate', '/api/coupons/activate'])
    assertRefused(t, await call('POST', path, { body: {} }), 401, 'AUTH_REQUIRED', unauthorized);
});

t.test('Reset tokens', async (t) => {
  const validate = (query: string) => call('GET', `/api/auth/validate-reset-token${query}`);
  const reset = (token: unknown) =>
    call('POST', '/api/auth/reset-password', { body: { token, newPassword: 'Another-2026' } });
  const issue = async () => getResetToken({ text: (await composeReset(ctx, alice.email))?.link });
  const expired = await issue();
  for (const query of ['', '?token=', '?token=a&token=b', '?token=unknown'])
    assertRefused(t, await validate(query), 400, 'RESET_TOKEN_INVALID', { valid: false, error: 'Token inválido' });
  assertRefused(t, await reset('unknown'), 400, 'RESET_TOKEN_INVALID', refused('Token inválido'));
  clock.advance(HOUR_MS);
  const late = { valid: false, error: 'Token expirado' };
  assertRefused(t, await validate(`?token=${expired}`), 400, 'RESET_TOKEN_EXPIRED', late);
  assertRefused(t, await reset(expired), 400, 'RESET_TOKEN_EXPIRED', refused('Token expirado'));
  const used = await issue();
  await ctx.db.update(passwordResets).set({ usedAt: ctx.now() });
  const again = { valid: false, error: 'Token já utilizado' };
  assertRefused(t, await validate(`?token=${used}`), 400, 'RESET_TOKEN_USED', again);
  assertRefused(t, await reset(used), 400, 'RESET_TOKEN_USED', refused('Token já utilizado'));
  assertRefused(t, await reset(undefined), 400, 'VALIDATION_ERROR', invalid('token'));
});

t.test('Administration', async (t) => {
  const missing = refused('Unauthorized', { message: 'Admin access required' });
  const callers = [
    { by: alice },
    { by: alice, headers: { 'x-admin-key': ADMIN_KEY } },
    { by: ada, headers: { 'x-admin-key': 'x' } },
  ];
  for (const caller of callers) {
    const answer = await call('GET', '/api/admin/stats', caller);
    assertRefused(t, answer, 403, 'INSUFFICIENT_PERMISSIONS', missing);
  }
  assertRefused(t, await call('GET', '/api/admin/users/999', { by: ada }), 404, 'NOT_FOUND', NOT_FOUND);
  assertRefused(t, await call('DELETE', `/api/admin/users/${ada.id}`, { by: ada }), 409, 'CONFLICT', refused(TEXT));
});

t.test('Tasks', async (t) => {
  const create = (body: unknown) => call('POST', '/api/agent/create-task', { by: alice, body });
  const required = ['name', 'prompt', 'scheduledFor', 'recurrence', 'timezone'];
  assertRefused(t, await create({}), 400, 'VALIDATION_ERROR', invalid(...required));
  assertRefused(t, await create('{'), 400, 'INVALID_JSON', refused('Invalid JSON', { message: TEXT }));
  assertRefused(t, await call('GET', '/api/tasks/999', { by: alice }), 404, 'NOT_FOUND', NOT_FOUND);
  const nowhere = refused('Not found', { message: TEXT });
  assertRefused(t, await call('GET', '/api/nothing'), 404, 'UNKNOWN_ENDPOINT', nowhere);
  const id = await postTask(app, alice, { scheduledFor: '2027-01-01T00:00:00.000Z' });
  await ctx.db.insert(usageCounters).values({ userId: alice.id, period: '2026-11', executions: 500 });
  const quota = refused('Quota exceeded', {
    message: TEXT,
    details: { resource: 'executions', used: 500, limit: 500, resetAt: INSTANT },
  });
  assertRefused(t, await call('POST', `/api/tasks/${id}/execute`, { by: alice }), 402, 'QUOTA_EXCEEDED', quota);
});

t.test('Uploads', async (t) => {
  const { url } = await insertUpload(ctx, bob);
  const remove = (body: object) => call('DELETE', '/api/upload', { by: alice, body });
  assertRefused(t, await remove({ url }), 403, 'INSUFFICIENT_PERMISSIONS', { error: TEXT });
  assertRefused(t, await remove({ url: `${url}x` }), 404, 'NOT_FOUND', { error: TEXT });
  assertRefused(t, await remove({}), 400, 'VALIDATION_ERROR', invalid('url'));
});

t.test('Integration checks', async (t) => {
  for (const [path, field] of [
    ['/api/integrations/notes/validate', 'apiKey'],
    ['/api/integrations/design/validate', 'token'],
  ] as const) {
    const by = await signUp(app);
    const validate = (body: unknown) => call('POST', path, { by, body });
    assertRefused(t, await validate({}), 400, 'VALIDATION_ERROR', { valid: false, error: `${field} is required` });
    assertRefused(t, await validate('{'), 400, 'INVALID_JSON', { valid: false, error: 'Invalid JSON' });
    const answer = await validate({ [field]: field === 'apiKey' ? 'ntn_revoked' : 'figd_any' });
    assertRefused(t, answer, 400, 'CREDENTIAL_REJECTED', { valid: false, error: TEXT });
  }
});

t.test('Coupons', async (t) => {
  const activate = (by: Person, code: string) => call('POST', '/api/coupons/activate', { by, body: { code } });
  const person = await signUp(app);
  const past = new Date(ctx.now().getTime() - 1);
  const usedOne = await insertCoupon(ctx);
  await activate(person, usedOne.code);
  const full = await insertCoupon(ctx, { maxUses: 1, usedCount: 1 });
  assertRefused(t, await activate(person, 'UNKNOWN'), 404, 'NOT_FOUND', refused(TEXT));
  const expired = await insertCoupon(ctx, { expiresAt: past });
  assertRefused(t, await activate(person, expired.code), 400, 'COUPON_EXPIRED', refused('Cupom expirado'));
  assertRefused(t, await activate(person, usedOne.code), 400, 'COUPON_ALREADY_USED', refused(TEXT));
  assertRefused(t, await activate(person, full.code), 400, 'COUPON_USED_UP', refused(TEXT));
  assertRefused(t, await activate(person, full.code), 429, 'RATE_LIMIT_EXCEEDED', limited);
});

t.test('Inbound webhooks', async (t) => {
  const path = inboundPath(await postWebhook(app, bob));
  const unsigned = await call('POST', path, { body: {} });
  assertRefused(t, unsigned, 401, 'INVALID_SIGNATURE', { error: 'Invalid signature' });
  const unknown = { error: 'Webhook not found or inactive' };
  assertRefused(t, await call('GET', `${path}x`), 404, 'NOT_FOUND', unknown);
  for (let n = 3; n <= 100; n++) await call('GET', `${path}x`);
  const message = { error: 'Rate limit exceeded', message: TEXT };
  assertRefused(t, await call('GET', path), 429, 'RATE_LIMIT_EXCEEDED', message);
});

t.test('Maintenance', async (t) => {
  await ctx.db.update(settings).set({ maintenanceMode: true });
  const closed = refused('Service unavailable', { message: TEXT });
  for (const path of ['/api/user', '/api/tasks'])
    assertRefused(t, await call('GET', path, { by: bob }), 503, 'SERVICE_UNAVAILABLE', closed);
  const validate = await call('POST', '/api/integrations/notes/validate', { by: bob, body: {} });
  assertRefused(t, validate, 503, 'SERVICE_UNAVAILABLE', closed);
});
