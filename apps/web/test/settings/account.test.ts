import { getTexts } from '@carillon/texts';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { coupons, users } from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { insertCoupon } from '../../../api/test/support/coupons.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { readQueuedTokens } from '../../../api/test/support/mails.ts';
import { PASSWORD, type Person, signUp, signUpAda } from '../../../api/test/support/people.ts';
import { SESSION_STATEMENTS, type Visitor, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const texts = getTexts('en').settings;
const HOSTILE = '"><script>alert(1)</script>‮{{7*7}}';

const TABS: Readonly<Record<string, string>> = {
  email: '/settings/security',
  password: '/settings/security',
  'first-password': '/settings/security',
  notifications: '/settings/notifications',
  'ai-key': '/settings/ai-key',
};

const open = (visitor: Visitor, setting = 'profile') => visitor.open(TABS[setting] ?? '/settings');
const find = async ({ id }: Pick<Person, 'id'>) => (await ctx.db.select().from(users).where(eq(users.id, id)))[0];

/** Sends the form of one setting. Several have a button with the same text. */
async function save(visitor: Visitor, setting: string, values: Record<string, string>, button = 'Save') {
  const page = await open(visitor, setting);
  for (const form of page.document.querySelectorAll('form')) {
    const name = form.querySelector('[name=setting]')?.getAttribute('value');
    if (name !== undefined && name !== setting) form.remove();
  }
  return visitor.submit(page, button, values);
}

t.test('The settings are shown in tabs, with two statements at most besides the session', async (t) => {
  const alice = await signUp(app, { name: HOSTILE, email: 'hostile@example.com', timezone: 'Asia/Kolkata' });
  const visitor = visit(app, alice);
  await open(visitor);
  const stop = countStatements(ctx.db);
  const page = await open(visitor);
  t.equal(stop(), SESSION_STATEMENTS + 1);
  t.match(page, { status: 200, heading: 'Settings' });
  const tabs = page.document.querySelectorAll('nav.tabs a').map((link) => link.getAttribute('href') ?? '');
  t.equal(tabs.length, 8);
  for (const tab of tabs) {
    const before = stop();
    const shown = await visitor.open(tab);
    t.ok(stop() - before <= SESSION_STATEMENTS + 2, tab);
    t.match(shown.status, 200, tab);
    t.equal(shown.document.querySelector('nav.tabs [aria-current]')?.getAttribute('href'), tab);
    const saves = shown.document.querySelectorAll('main button').filter(({ text }) => text === 'Save');
    t.ok(saves.length <= 1, `${tab} has one Save`);
  }
  t.notMatch(page.response.body, '<script>alert');
  t.equal(page.document.querySelector('#profile-name')?.getAttribute('value'), HOSTILE);
  t.equal(page.document.querySelector('[name=timezone] [selected]')?.text, 'Asia/Kolkata');
  t.match((await visitor.open('/settings/data')).response.body, `/api/webhooks/${alice.id}/<b>SECRET</b>`);
});

t.test('Name and time zone are saved, and refused at their fields with what was typed', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const page = await save(visitor, 'profile', { name: 'Alicia', timezone: 'Asia/Tokyo' });
  t.match(page, { status: 200, url: '/settings#main', text: /Your profile is saved/ });
  t.match(await find(alice), { name: 'Alicia', timezone: 'Asia/Tokyo' });
  const wrong = await save(visitor, 'profile', { name: 'x', timezone: 'Mars/Olympus' });
  t.match(wrong, { status: 422, heading: 'Settings' });
  t.equal(wrong.document.querySelector('#profile-name')?.getAttribute('value'), 'x');
  t.match(wrong.document.querySelector('#profile-name-error')?.text, /at least 2 characters/);
  t.ok(wrong.document.querySelector('#timezone-error'));
});

t.test('The theme of a browser is kept in a cookie, and only with a profile that is saved', async (t) => {
  const visitor = visit(app, await signUp(app));
  const dark = await save(visitor, 'profile', { theme: 'dark' });
  t.equal(dark.document.querySelector('html')?.getAttribute('data-theme'), 'dark');
  t.equal(visitor.cookies.get('theme'), 'dark');
  const wrong = await save(visitor, 'profile', { name: 'x', theme: 'light' });
  t.equal(wrong.document.querySelector('[value=light]')?.hasAttribute('checked'), true, 'what was chosen stays');
  t.equal(visitor.cookies.get('theme'), 'dark');
  const system = await save(visitor, 'profile', { theme: 'system' });
  t.equal(system.document.querySelector('html')?.getAttribute('data-theme'), undefined);
});

t.test('Another e-mail address waits for its link, and the change can be cancelled', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const email = 'alice-new@example.com';
  const wrong = await save(visitor, 'email', { email, currentPassword: 'Wrong-2026' }, 'Change address');
  t.equal(wrong.status, 422);
  t.match(wrong.document.querySelector('#email-currentPassword-error')?.text, /is wrong/);
  t.equal(wrong.document.querySelector('#email-email')?.getAttribute('value'), email);
  const asked = await save(visitor, 'email', { email, currentPassword: PASSWORD }, 'Change address');
  t.match(asked, { status: 200, text: /Open the link in the mail to alice-new@example.com/ });
  t.equal((await readQueuedTokens(ctx, email)).length, 1);
  t.equal((await find(alice))?.email, alice.email);
  const cancelled = await visitor.submit(asked, texts.cancelEmailChange);
  t.notMatch(cancelled.text, 'alice-new@example.com');
});

t.test(
  'An account without a password approves a new address by mail, and gets a link to choose a password',
  async (t) => {
    const alice = await signUp(app);
    await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, alice.id));
    const visitor = visit(app, alice);
    t.notOk((await open(visitor, 'email')).document.querySelector('[name=currentPassword]'));
    await save(visitor, 'email', { email: 'later@example.com' }, 'Change address');
    t.equal((await readQueuedTokens(ctx, alice.email)).length, 1);
    const page = await save(visitor, 'first-password', {}, 'Send link');
    t.match(page, { status: 200, text: texts.passwordLinkSent });
  },
);

t.test('A new password ends the other sessions, and a wrong one is refused at its field', async (t) => {
  const alice = await signUp(app);
  const other = visit(app);
  await other.submit(await other.open('/sign-in'), 'Sign in', { email: alice.email, password: PASSWORD });
  const visitor = visit(app, alice);
  const values = { currentPassword: 'Wrong-2026', newPassword: 'Another-2027' };
  const wrong = await save(visitor, 'password', values, 'Change password');
  t.ok(wrong.document.querySelector('#password-currentPassword-error'));
  t.notMatch(wrong.response.body, 'Another-2027');
  const page = await save(visitor, 'password', { ...values, currentPassword: PASSWORD }, 'Change password');
  t.match(page, { status: 200, text: /Your password is changed/ });
  t.match(await other.open('/settings'), { heading: 'Sign in' });
});

t.test('Notifications are saved together, and a wrong address is named', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const values = { notificationEmails: 'a@example.com\nnobody', webhookUrl: 'https://example.com/hook' };
  const wrong = await save(visitor, 'notifications', values);
  t.equal(wrong.status, 422);
  t.match(wrong.document.querySelector('#notifications-notificationEmails-error')?.text, /^nobody /);
  t.equal(wrong.document.querySelector('#notifications-webhookUrl')?.getAttribute('value'), values.webhookUrl);
  const page = await save(visitor, 'notifications', { ...values, notificationEmails: 'a@example.com, b@example.com' });
  t.match(page, { status: 200, text: /Not confirmed yet: a@example.com, b@example.com/ });
  t.match(page.document.querySelector('a[href^="/webhooks/"]')?.text, texts.webhookLink);
  t.match(await find(alice), { notificationUrl: values.webhookUrl, notifyEmail: true });
  const local = await save(visitor, 'notifications', { webhookUrl: 'http://169.254.0.1/' });
  t.ok(local.document.querySelector('#notifications-webhookUrl-error'), 'an address inside of the network');
});

t.test('The own AI key is stored, never shown, and removed', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const empty = await save(visitor, 'ai-key', {}, 'Save key');
  t.ok(empty.document.querySelector('#ai-key-modelRouterApiKey-error'));
  const page = await save(visitor, 'ai-key', { modelRouterApiKey: 'sk-of-alice' }, 'Save key');
  t.match(page, { status: 200, text: texts.ownKey });
  t.notMatch(page.response.body, 'sk-of-alice');
  t.notMatch((await find(alice))?.providerKeyEncrypted, 'sk-of-alice');
  const removed = await save(visitor, 'ai-key', {}, 'Remove key');
  t.match(removed.text, texts.aiKeyRemoved);
  t.equal((await find(alice))?.providerKeyEncrypted, null);
});

t.test('A coupon makes the trial longer once', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  t.notMatch((await open(visitor)).text, /trial|coupon/i, 'nobody sells anything');
  await insertCoupon(ctx, { code: 'SPRING' });
  const before = (await find(alice))?.trialEndsAt;
  t.match(await save(visitor, 'coupon', { code: ' spring ' }, 'Use coupon'), { text: texts.couponUsed });
  t.ok(Number((await find(alice))?.trialEndsAt) > Number(before));
  const again = await save(visitor, 'coupon', { code: 'spring' }, 'Use coupon');
  t.match(again.document.querySelector('#coupon-code-error')?.text, /is already used by this account/);
  const unknown = await save(visitor, 'coupon', { code: HOSTILE }, 'Use coupon');
  t.equal(unknown.document.querySelector('#coupon-code')?.getAttribute('value'), HOSTILE);
  t.match(unknown.document.querySelector('#coupon-code-error')?.text, /is not the code of a coupon/);
});

t.test('A trial is shown once an administrator has moved the end of one, or it has ended', async (t) => {
  await ctx.db.delete(coupons);
  await ctx.db.update(users).set({ trialEndsAt: null });
  const [bob, carol] = [await signUp(app, { name: 'Bob' }), await signUp(app, { name: 'Carol' })];
  const [bobs, carols] = [visit(app, bob), visit(app, carol)];
  t.notMatch((await open(bobs)).text, /trial/i, 'as at the registration');
  await ctx.db
    .update(users)
    .set({ trialEndsAt: new Date('2026-11-19') })
    .where(eq(users.id, carol.id));
  t.match((await open(bobs)).text, /Trial ?Ends on 4 December/);
  await ctx.db
    .update(users)
    .set({ createdAt: new Date('2026-11-05') })
    .where(eq(users.id, carol.id));
  t.notMatch((await open(bobs)).text, /trial/i);
  t.match((await open(carols)).text, /Trial ?Ended/);
});

t.test('An account is deleted by its typed address and password, and nothing else', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const form = await visitor.open('/settings/delete');
  const typo = await visitor.submit(form, 'Delete account', { email: 'other@example.com', currentPassword: PASSWORD });
  t.match(typo, { status: 422, heading: 'Delete account' });
  t.ok(typo.document.querySelector('#email-error'));
  const wrong = await visitor.submit(form, 'Delete account', { email: alice.email, currentPassword: 'Wrong-2026' });
  t.ok(wrong.document.querySelector('#currentPassword-error'));
  const gone = await visitor.submit(form, 'Delete account', { email: alice.email, currentPassword: PASSWORD });
  t.match(gone, { url: '/sign-in', text: texts.accountDeleted });
  t.equal(await find(alice), undefined);
});

t.test('An old session without a password, and the last admin, delete no account', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, bob.id));
  clock.advance(16 * 60 * 1000);
  const visitor = visit(app, bob);
  const old = await visitor.submit(await visitor.open('/settings/delete'), 'Delete account', { email: bob.email });
  t.match(old, { heading: 'Delete account', text: texts.oldSession });
  const ada = await signUpAda(app);
  const admin = visit(app, ada);
  const values = { email: ada.email, currentPassword: PASSWORD };
  t.match(await admin.submit(await admin.open('/settings/delete'), 'Delete account', values), { status: 409 });
  t.ok(await find(ada));
});
