import { auditLog, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { PASSWORD } from '../support/people.ts';

const DAY = 86_400_000;
const ALICE = { name: 'Alice', email: 'alice@example.com', password: PASSWORD };

const { app, ctx, clock, logged } = await testContext(t, {
  env: { RATE_LIMIT_MULTIPLIER: '1000', LOG_LEVEL: 'trace' },
});
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(users);
  await ctx.db.delete(auditLog);
});

const register = (body: unknown) => app.inject({ method: 'POST', url: '/api/auth/register', payload: body as object });

const logIn = async (email: string) => {
  const payload = { email, password: PASSWORD };
  return (await app.inject({ method: 'POST', url: '/api/auth/login', payload })).statusCode;
};

t.test('A registration creates an account in its trial and answers with its public fields', async (t) => {
  const answer = await register({ ...ALICE, timezone: 'Europe/Lisbon' });
  t.equal(answer.statusCode, 201);
  const { user, ...rest } = answer.json();
  t.same(rest, { success: true });
  t.same(user, { id: user.id, email: 'alice@example.com', name: 'Alice', createdAt: START.toISOString() });
  t.equal(answer.headers['set-cookie'], undefined, 'registering is not signing in');

  const [row] = await ctx.db.select().from(users).where(eq(users.id, user.id));
  t.match(row, { role: 'USER', plan: 'trial', timezone: 'Europe/Lisbon', isActive: true });
  t.match(row?.identityUserId, /^local:[0-9a-f-]{36}$/);
  t.match(row?.passwordHash, /^\$argon2id\$/);
  t.same(row?.trialEndsAt, new Date(START.getTime() + 14 * DAY));
});

t.test('The trial is as long as the settings say, in days of 24 hours', async (t) => {
  await ctx.db.update(settings).set({ trialDurationDays: 30 });
  t.teardown(() => ctx.db.update(settings).set({ trialDurationDays: 14 }));
  // Clocks go forward in Lisbon on 28 March 2027, within this trial.
  clock.set('2027-03-10T12:00:00Z');
  const { user } = (await register(ALICE)).json();
  const [row] = await ctx.db.select().from(users).where(eq(users.id, user.id));
  t.same(row?.trialEndsAt, new Date('2027-04-09T12:00:00Z'));
});

t.test('No password or hash is answered or logged', async (t) => {
  const answers = [await register(ALICE), await register(ALICE)];
  for (const text of [...answers.map(({ body }) => body), JSON.stringify(logged)]) {
    t.notMatch(text, PASSWORD);
    t.notMatch(text, 'argon2');
  }
});

t.test('An address has one account, regardless of its case and the space around it', async (t) => {
  t.equal((await register({ ...ALICE, email: '  Alice@Example.COM ' })).json().user.email, 'alice@example.com');
  for (const email of ['alice@example.com', 'ALICE@EXAMPLE.COM', ' alice@example.com']) {
    const answer = await register({ ...ALICE, email });
    t.equal(answer.statusCode, 409);
    t.same(answer.json(), { success: false, error: 'This e-mail address is already registered.' });
  }
  t.equal(await ctx.db.$count(users), 1);
});

t.test('Of 20 concurrent registrations of one address one succeeds', async (t) => {
  const spellings = Array.from({ length: 20 }, (_, n) => (n % 2 ? 'alice@example.com' : 'Alice@Example.com'));
  const answers = await Promise.all(spellings.map((email) => register({ ...ALICE, email })));
  const statuses = answers.map(({ statusCode }) => statusCode).sort();
  t.same(statuses, [201, ...Array(19).fill(409)]);
  t.equal(await ctx.db.$count(users), 1);
  t.equal(await ctx.db.$count(auditLog), 1);
});

t.test('Each address that is accepted signs in, as it was typed and as it was answered', async (t) => {
  for (const local of [
    'İstanbul',
    'STRAẞE',
    'ΟΔΥΣΣΕΥΣ',
    'Ǆ',
    'ﬀ',
    'K',
    'Å',
    'Ꭰ',
    'Ა',
    '𐐀',
    'ı',
    'Ꟑ',
    'ꟲ',
    '𞤀',
    'Ɤ',
    'Ꟛ',
  ]) {
    for (const email of [`${local}@example.com`, `a@${local}.example`]) {
      const first = await register({ ...ALICE, email });
      t.ok([201, 400].includes(first.statusCode), `${email}: ${first.statusCode}`);
      const again = await register({ ...ALICE, email });
      t.equal(again.statusCode, first.statusCode === 201 ? 409 : 400, email);
      if (first.statusCode === 400) {
        t.same(Object.keys(first.json().details), ['email']);
        continue;
      }
      for (const typed of [email, first.json().user.email]) t.equal(await logIn(typed), 200, typed);
    }
  }
});

t.test('An invalid registration is explained by field', async (t) => {
  const refused: [field: string, body: Record<string, unknown>][] = [
    ['name', { ...ALICE, name: 'A' }],
    ['name', { ...ALICE, name: 'x'.repeat(101) }],
    ['name', { ...ALICE, name: 12 }],
    ['name', { email: ALICE.email, password: PASSWORD }],
    ['name', { ...ALICE, name: 'Al\0ice' }],
    ['email', { ...ALICE, email: 'alice' }],
    ['email', { ...ALICE, email: 'alice@' }],
    ['email', { ...ALICE, email: `${'a'.repeat(250)}@example.com` }],
    ['email', { ...ALICE, email: null }],
    ['email', { ...ALICE, email: 'x@İstanbul.test' }],
    ['password', { ...ALICE, password: 'Ab34567' }],
    ['password', { ...ALICE, password: 'abcdefg1' }],
    ['password', { ...ALICE, password: 'ABCDEFG1' }],
    ['password', { ...ALICE, password: 'Abcdefgh' }],
    ['password', { ...ALICE, password: `Aa1${'x'.repeat(126)}` }],
    ['password', { name: 'Alice', email: ALICE.email }],
    ['timezone', { ...ALICE, timezone: 'Mars/Olympus' }],
    ['timezone', { ...ALICE, timezone: '' }],
    ['role', { ...ALICE, role: 'ADMIN' }],
    ['plan', { ...ALICE, plan: 'pro' }],
    ['isActive', { ...ALICE, isActive: true }],
  ];
  for (const [field, body] of refused) {
    const answer = await register(body);
    t.equal(answer.statusCode, 400, JSON.stringify(body).slice(0, 80));
    const { success, error, details } = answer.json();
    t.same({ success, error }, { success: false, error: 'Validation error' });
    t.same(Object.keys(details), [field]);
    t.type(details[field][0], 'string');
  }
  t.equal(await ctx.db.$count(users), 0);
});

t.test('The limits of the rules are valid', async (t) => {
  const bodies = [
    { name: 'Al', email: 'a@b.co', password: 'Abcdefg1' },
    { name: '🔔'.repeat(100), email: 'b@b.co', password: `Aa1${'🔔'.repeat(125)}` },
    { name: "Zoë O'Hara", email: "o'hara+tag@sub.example.co.uk", password: 'пароль-Aa1', timezone: 'UTC' },
    { name: 'Kolkata', email: 'c@b.co', password: PASSWORD, timezone: 'Asia/Kolkata' },
  ];
  for (const body of bodies) t.equal((await register(body)).statusCode, 201, body.name);
});

t.test('A registration is in the audit log with its request and address', async (t) => {
  const { user } = (
    await app.inject({
      method: 'POST',
      url: '/api/auth/register',
      payload: ALICE,
      headers: { 'x-request-id': 'req-1' },
      remoteAddress: '192.0.2.7',
    })
  ).json();
  const [record, ...more] = await ctx.db.select().from(auditLog);
  t.same(more, []);
  t.match(record, { at: START, kind: 'user.registered', actorId: user.id, actorEmail: user.email, userId: user.id });
  t.match(record, { address: '192.0.2.7', requestId: 'req-1' });
});
