import { eq } from 'drizzle-orm';
import t from 'tap';
import { users } from '../../../../packages/db/src/index.ts';
import { composeReset } from '../../../api/src/product/auth/password-reset.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { readQueuedTokens } from '../../../api/test/support/mails.ts';
import { PASSWORD, signUp, signUpAlice } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, clock, logged } = await testContext(t);
const alice = await signUpAlice(app);
const NEW_PASSWORD = 'Another-2027';
const HOUR = 60 * 60 * 1000;

async function mailReset(): Promise<string> {
  const { link } = (await composeReset(ctx, alice.email)) ?? {};
  return new URL(link ?? '').pathname;
}

t.test('The page for a forgotten password says the same for every address', async (t) => {
  const visitor = visit(app);
  const answers: string[] = [];
  for (const email of [alice.email, 'nobody@example.com']) {
    const page = await visitor.submit(await visitor.open('/forgot-password'), 'Send link', { email });
    t.match(page, { status: 200, heading: 'Check your e-mail' });
    answers.push(page.text.replaceAll(email, 'ADDRESS'));
  }
  t.equal(answers[0], answers[1]);
  const wrong = await visitor.submit(await visitor.open('/forgot-password'), 'Send link', { email: 'nobody' });
  t.match(wrong, { status: 422, heading: 'Reset your password' });
  t.equal(wrong.document.querySelector('[name=email]')?.getAttribute('value'), 'nobody');
});

t.test('A mailed link changes the password once', async (t) => {
  const address = await mailReset();
  const visitor = visit(app);
  const form = await visitor.open(address);
  t.match(form, { status: 200, heading: 'Reset your password' });
  const weak = await visitor.submit(form, 'Change password', { newPassword: 'weak' });
  t.match(weak, { status: 422, url: address });
  t.ok(weak.document.querySelector('#newPassword-error'));
  const done = await visitor.submit(weak, 'Change password', { newPassword: NEW_PASSWORD });
  t.match(done, { url: '/sign-in', text: /Your password is changed/ });
  const home = await visitor.submit(done, 'Sign in', { email: alice.email, password: NEW_PASSWORD });
  t.match(home, { status: 200, heading: 'Home' });
  t.match(await visitor.open(address), { status: 410, text: /was already used/ });
  t.match(await visitor.submit(form, 'Change password', { newPassword: PASSWORD }), { status: 403 });
});

t.test('A link that is too old, or was never sent, offers another one', async (t) => {
  const address = await mailReset();
  const visitor = visit(app);
  const form = await visitor.open(address);
  clock.advance(HOUR);
  t.match(await visitor.open(address), { status: 410, text: /older than an hour/ });
  const late = await visitor.submit(form, 'Change password', { newPassword: NEW_PASSWORD });
  t.match(late, { status: 410, heading: 'This link does not work' });
  for (const token of ['x', 'a'.repeat(64), '%3Cscript%3E', '..%2F..']) {
    t.match(await visitor.open(`/handler/reset-password/${token}`), { status: 410, text: /was never sent/ });
  }
});

t.test('The token of a link is in no title, referrer or log', async (t) => {
  const address = await mailReset();
  const token = address.split('/').at(-1) ?? '';
  for (const url of [address, `/setup?token=${token}`, `/handler/confirm-email/${token}`]) {
    const { response, document } = await visit(app).open(url);
    t.equal(response.headers['referrer-policy'], 'strict-origin', url);
    t.equal(response.headers['cache-control'], 'no-store');
    t.notMatch(document.querySelector('title')?.text, token);
    t.notMatch(response.body, new RegExp(`(href|src)="[^"]*${token}`));
  }
  t.notMatch(JSON.stringify(logged), token);
});

t.test('A link to confirm an address does nothing before its button is pressed', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const headers = { authorization: `Bearer ${bob.token}` };
  const email = 'new-address@example.com';
  await app.inject({ method: 'PATCH', url: '/api/user', headers, payload: { email, currentPassword: PASSWORD } });
  const [token] = await readQueuedTokens(ctx, email);
  const visitor = visit(app);
  const readEmail = async () => (await ctx.db.select().from(users).where(eq(users.id, bob.id)))[0]?.email;
  await visitor.open(`/handler/confirm-email/${token}`);
  const page = await visitor.open(`/handler/confirm-email/${token}`);
  t.match(page, { status: 200, heading: 'Confirm your e-mail address', text: new RegExp(email) });
  t.equal(await readEmail(), bob.email);
  const done = await visitor.submit(page, 'Confirm address');
  t.match(done, { status: 200, heading: 'Your e-mail address is changed' });
  t.equal(await readEmail(), email);
  t.match(await visitor.submit(page, 'Confirm address'), { status: 410, heading: 'This link does not work' });
  t.match(await visitor.open(`/handler/confirm-email/${token}`), { status: 410 });
});

t.test(
  'A link confirms an address for notifications, and approves the address of an account without a password',
  async (t) => {
    const carol = await signUp(app, { name: 'Carol' });
    const headers = { authorization: `Bearer ${carol.token}` };
    const notificationEmails = ['team@example.com'];
    await app.inject({ method: 'PATCH', url: '/api/user/settings', headers, payload: { notificationEmails } });
    const visitor = visit(app);
    const [token] = await readQueuedTokens(ctx, 'team@example.com');
    const page = await visitor.open(`/handler/confirm-email/${token}`);
    t.match(page, { heading: 'Allow mail from Carillon', text: /team@example\.com/ });
    t.match(await visitor.submit(page, 'Allow this mail'), { heading: 'This address now gets mail' });

    await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, carol.id));
    await app.inject({ method: 'PATCH', url: '/api/user', headers, payload: { email: 'carol-2@example.com' } });
    const [approval] = await readQueuedTokens(ctx, carol.email);
    const asked = await visitor.open(`/handler/confirm-email/${approval}`);
    t.match(asked, { heading: 'Approve the new e-mail address', text: /carol-2@example\.com/ });
    t.match(await visitor.submit(asked, 'Approve address'), { heading: 'The address is approved' });
  },
);
