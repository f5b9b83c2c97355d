import { mails, notificationAddresses, rateWindows, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { notifyUsers } from '../../src/product/notifications/write.ts';
import { START, testContext } from '../support/context.ts';
import { readQueuedTokens } from '../support/mails.ts';
import { PASSWORD, type Person, signUp, signUpAlice, signUpBob } from '../support/people.ts';
import { patchTask, postTask, runDue, TASK } from '../support/tasks.ts';

const HOUR_MS = 3_600_000;
const TEAM = 'team@example.com';

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  for (const table of [mails, users, rateWindows]) await ctx.db.delete(table);
  alice = await signUpAlice(app);
});

const url = '/api/user/settings';
const save = ({ headers }: Person, payload: object) => app.inject({ method: 'PATCH', url, headers, payload });
const read = async ({ headers }: Person) => (await app.inject({ url, headers })).json().settings;
const confirm = (token: string | undefined) =>
  app.inject({ method: 'POST', url: '/api/user/confirm-email', payload: { token } });
const subjectsTo = async (recipient: string) => {
  const rows = await ctx.db.select().from(mails).where(eq(mails.recipient, recipient)).orderBy(mails.createdAt);
  return rows.map(({ subject }) => subject);
};
const notify = ({ id }: Person) =>
  notifyUsers(ctx, [
    { userId: id, kind: 'task.failed', title: 'Task failed', message: 'It will not run again.', path: '/tasks/7' },
  ]);
/** Runs a new task an hour later and returns its id. */
async function runTask(person: Person, notificationEmail: string) {
  const scheduledFor = new Date(ctx.now().getTime() + HOUR_MS).toISOString();
  const id = await postTask(app, person, { ...TASK, scheduledFor, aiModel: 'offline', recurrence: 'once' });
  t.equal((await patchTask(app, person, id, { notificationEmail })).statusCode, 200);
  clock.set(scheduledFor);
  await runDue(ctx);
  return id;
}

const LINK = 'Confirm that you want this mail';
const RESULT = `Task "${TASK.name}": run completed`;

t.test('An address of the settings gets a link, and notifications once it is opened', async (t) => {
  const saved = (await save(alice, { notificationEmails: [TEAM] })).json().settings;
  t.match(saved, { notificationEmails: [TEAM], unconfirmedEmails: [TEAM] });
  await notify(alice);
  t.same(await subjectsTo(TEAM), [LINK]);
  t.same(await subjectsTo(alice.email), ['Task failed'], 'the address of the account gets them anyway');
  const token = (await readQueuedTokens(ctx, TEAM)).at(-1);
  t.equal((await confirm(token)).json().message, 'This address is confirmed and gets notifications from now on.');
  t.match(await read(alice), { notificationEmails: [TEAM], unconfirmedEmails: [] });
  await notify(alice);
  t.same((await subjectsTo(TEAM)).sort(), [LINK, 'Task failed']);
  t.equal((await confirm(token)).statusCode, 400, 'the link works once');
});

t.test('The address of a task gets a link, and results once it is opened', async (t) => {
  const id = await runTask(alice, 'Team@Example.com');
  t.same(await subjectsTo(TEAM), [LINK]);
  t.match(await read(alice), { notificationEmails: [], unconfirmedEmails: [TEAM] });
  t.equal((await patchTask(app, alice, id, { notificationEmail: TEAM })).statusCode, 200);
  const token = (await readQueuedTokens(ctx, TEAM)).at(-1);
  t.equal((await confirm(token)).statusCode, 200);
  await runTask(alice, TEAM);
  t.same((await subjectsTo(TEAM)).sort(), [LINK, LINK, RESULT].sort());
  t.match(await read(alice), { unconfirmedEmails: [] });
});

t.test('A confirmation counts for one user only', async (t) => {
  const bob = await signUpBob(app);
  for (const person of [alice, bob]) await save(person, { notificationEmails: [TEAM] });
  const rows = await ctx.db.select().from(notificationAddresses);
  t.equal(rows.length, 2);
  await ctx.db
    .update(notificationAddresses)
    .set({ tokenHash: null, expiresAt: null, confirmedAt: START })
    .where(eq(notificationAddresses.userId, bob.id));
  for (const person of [alice, bob]) await notify(person);
  t.same((await subjectsTo(TEAM)).sort(), [LINK, LINK, 'Task failed'].sort());
});

t.test('The address of the account itself gets results once it is verified', async (t) => {
  await runTask(alice, alice.email);
  t.same(await subjectsTo(alice.email), [LINK]);
  await ctx.db.update(users).set({ emailVerifiedAt: START });
  t.match(await read(alice), { unconfirmedEmails: [] });
  await runTask(alice, alice.email);
  t.same((await subjectsTo(alice.email)).sort(), [LINK, RESULT].sort());
  t.equal((await ctx.db.select().from(users))[0]?.emailVerifiedAt?.getTime(), START.getTime());
});

t.test('A confirmed notification address does not verify the account', async (t) => {
  await runTask(alice, alice.email);
  clock.set(START);
  t.equal((await confirm((await readQueuedTokens(ctx, alice.email)).at(-1))).statusCode, 200);
  t.equal((await ctx.db.select().from(users))[0]?.emailVerifiedAt, null);
});

t.test('An address that was verified keeps getting results after the account has another one', async (t) => {
  await ctx.db.update(users).set({ emailVerifiedAt: START });
  await save(alice, { email: 'new@example.com', currentPassword: PASSWORD });
  t.equal((await confirm((await readQueuedTokens(ctx, 'new@example.com')).at(-1))).statusCode, 200);
  await runTask(alice, alice.email);
  t.match(await subjectsTo(alice.email), [/about to/, /was changed/, RESULT]);
});

t.test('One link is sent although the address is saved often and in many places', async (t) => {
  await Promise.all([
    ...Array.from({ length: 5 }, () => save(alice, { notificationEmails: [TEAM] })),
    ...Array.from({ length: 5 }, () => postTask(app, alice, { notificationEmail: TEAM })),
  ]);
  t.same(await subjectsTo(TEAM), [LINK]);
  clock.advance(HOUR_MS);
  const [late] = await readQueuedTokens(ctx, TEAM);
  t.equal((await confirm(late)).statusCode, 400, 'it expires after an hour');
  await save(alice, { notificationEmails: [TEAM] });
  t.same(await subjectsTo(TEAM), [LINK, LINK], 'saved again, it gets another one');
});

t.test('An address gets 5 links a day from all users, and a user causes 20', async (t) => {
  for (let n = 0; n < 8; n++) {
    const person = await signUp(app, { name: 'Bob' });
    t.equal((await save(person, { notificationEmails: [TEAM] })).statusCode, 200);
    t.match(await read(person), { unconfirmedEmails: [TEAM] });
  }
  t.equal((await subjectsTo(TEAM)).length, 5);
  for (let n = 0; n < 4; n++) {
    const notificationEmails = Array.from({ length: 8 }, (_, i) => `a${n}-${i}@example.com`);
    t.equal((await save(alice, { notificationEmails })).statusCode, 200);
  }
  t.equal(await ctx.db.$count(mails, eq(mails.userId, alice.id)), 20);
});

t.test('Addresses that are no longer named are forgotten once their link has expired', async (t) => {
  await save(alice, { notificationEmails: ['a@example.com', 'b@example.com'] });
  clock.advance(HOUR_MS);
  await save(alice, { notificationEmails: ['b@example.com', TEAM] });
  const rows = await ctx.db.select().from(notificationAddresses).orderBy(notificationAddresses.email);
  t.same(
    rows.map(({ email }) => email),
    ['b@example.com', TEAM],
  );
});

t.test('A link of a deactivated or deleted account confirms nothing', async (t) => {
  await save(alice, { notificationEmails: [TEAM] });
  const [token] = await readQueuedTokens(ctx, TEAM);
  await ctx.db.update(users).set({ isActive: false });
  t.equal((await confirm(token)).statusCode, 400);
  await ctx.db.delete(tasks);
  await ctx.db.delete(users);
  t.equal((await confirm(token)).statusCode, 400);
  t.equal(await ctx.db.$count(notificationAddresses), 0);
});
