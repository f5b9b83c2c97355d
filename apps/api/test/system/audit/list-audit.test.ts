import { auditLog, users } from '@carillon/db';
import t from 'tap';
import { type AuditEntry, recordAudit } from '../../../src/platform/events/audit-log.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { assertNeedsAdmin } from '../../support/access.ts';
import { START, testContext } from '../../support/context.ts';
import { type Person, signUpAda, signUpAlice, signUpBob } from '../../support/people.ts';

const { app, ctx, clock } = await testContext(t);
let ada: Person;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  ada = await signUpAda(app);
  alice = await signUpAlice(app);
  await ctx.db.delete(auditLog);
});

const url = '/api/admin/audit';
const list = (query: Record<string, string> = {}) => app.inject({ url, query, headers: ada.headers });
const kinds = async (query: Record<string, string>) =>
  (await list(query)).json().entries.map(({ kind }: { kind: string }) => kind);
const record = (kind: AuditEntry['kind'], actor: Person, userId: number | null) =>
  recordAudit(ctx, { kind, actorId: actor.id, actorEmail: actor.email, userId });

t.test('Every change by an admin is listed, newest first, with the actor, before, after and the address', async (t) => {
  const as = (requestId: string) => ({ ...ada.headers, 'x-request-id': requestId });
  const user = `/api/admin/users/${alice.id}`;
  await app.inject({ method: 'PATCH', url: user, headers: as('one'), payload: { plan: 'pro' } });
  clock.advance(1000);
  const settings = { maintenanceMode: true };
  await app.inject({ method: 'PATCH', url: '/api/admin/settings', headers: as('two'), payload: settings });
  await app.inject({
    method: 'PATCH',
    url: '/api/admin/settings',
    headers: as('three'),
    payload: { maintenanceMode: false },
  });
  await app.inject({ method: 'DELETE', url: user, headers: as('four') });
  const coupon = await app.inject({ method: 'POST', url: '/api/admin/coupons', headers: as('five'), payload: {} });
  t.equal(coupon.statusCode, 201);

  const answer = await list();
  t.equal(answer.statusCode, 200);
  const { success, entries, pagination } = answer.json();
  t.equal(success, true);
  t.same(pagination, { total: 5, limit: 50, offset: 0, hasMore: false, nextCursor: null });
  const who = { actorId: ada.id, actorEmail: ada.email, address: '127.0.0.1' };
  const later = '2026-11-20T10:00:01.000Z';
  t.match(entries[0], { ...who, kind: 'coupon.created', requestId: 'five', userId: null });
  t.same(
    entries.slice(1).map(({ id: _id, ...entry }: { id: number }) => entry),
    [
      {
        ...who,
        at: later,
        kind: 'user.deleted',
        userId: alice.id,
        details: { before: { email: alice.email, role: 'USER' }, after: null },
        requestId: 'four',
      },
      {
        ...who,
        at: later,
        kind: 'settings.changed',
        userId: null,
        details: { before: { maintenanceMode: true }, after: { maintenanceMode: false } },
        requestId: 'three',
      },
      {
        ...who,
        at: later,
        kind: 'settings.changed',
        userId: null,
        details: { before: { maintenanceMode: false }, after: { maintenanceMode: true } },
        requestId: 'two',
      },
      {
        ...who,
        at: START.toISOString(),
        kind: 'user.changed',
        userId: alice.id,
        details: { before: { plan: 'trial' }, after: { plan: 'pro' } },
        requestId: 'one',
      },
    ],
  );
});

t.test('A change that is not committed leaves no record', async (t) => {
  const work = inTransaction(ctx, async (tx) => {
    await recordAudit(tx, { kind: 'user.changed', actorId: ada.id, actorEmail: ada.email, userId: alice.id });
    throw new Error('It failed after all.');
  });
  await t.rejects(work);
  t.same(await kinds({}), []);
});

t.test('The log is filtered by account, actor and kind', async (t) => {
  const bob = await signUpBob(app);
  await ctx.db.delete(auditLog);
  await record('user.changed', ada, alice.id);
  await record('user.signed_in', alice, alice.id);
  await record('user.changed', ada, bob.id);
  await record('settings.changed', ada, null);
  t.same(await kinds({ userId: String(alice.id) }), ['user.signed_in', 'user.changed']);
  t.same(await kinds({ actorId: String(ada.id) }), ['settings.changed', 'user.changed', 'user.changed']);
  t.same(await kinds({ kind: 'user.signed_in' }), ['user.signed_in']);
  t.same(await kinds({ kind: 'user.changed', userId: String(bob.id), actorId: String(ada.id) }), ['user.changed']);
  t.same(await kinds({ kind: 'user.%' }), []);
});

const STEPS = ['user.registered', 'user.signed_in', 'user.changed', 'key.created', 'key.deleted'] as const;

t.test('Pages follow each other by offset and by cursor', async (t) => {
  for (const kind of STEPS) await record(kind, ada, alice.id);
  const first = (await list({ limit: '2' })).json();
  t.match(first.pagination, { total: 5, limit: 2, offset: 0, hasMore: true, nextCursor: String });
  t.same(await kinds({ limit: '2', offset: '2' }), [STEPS[2], STEPS[1]]);
  await record('user.deleted', ada, alice.id);
  const second = (await list({ limit: '2', cursor: first.pagination.nextCursor })).json();
  t.same(
    second.entries.map(({ kind }: { kind: string }) => kind),
    [STEPS[2], STEPS[1]],
    'new entries do not shift the pages',
  );
  t.match(second.pagination, { total: null, offset: 0, hasMore: true });
});

t.test('Invalid filters are rejected by name', async (t) => {
  for (const [field, value] of [
    ['userId', 'x'],
    ['actorId', '0'],
    ['kind', ''],
    ['cursor', 'never-given-out'],
  ] as const) {
    const answer = await list({ [field]: value });
    t.equal(answer.statusCode, 400, field);
    t.match(answer.json(), { success: false, error: 'Validation error', details: { [field]: [String] } });
  }
});

t.test('The audit log needs an admin with the key', async (t) => {
  await assertNeedsAdmin(t, app, { url }, { ada, alice });
});
