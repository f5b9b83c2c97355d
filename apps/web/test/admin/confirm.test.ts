import { WEB_ACTIONS, type WebActionName } from '@carillon/contract/actions/web/index';
import { getTexts } from '@carillon/texts';
import t from 'tap';
import { buildWebActions } from '../../../api/src/handlers/actions/web/build.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { listRoutes } from '../../../api/test/support/contract/conformance.ts';
import { PASSWORD, signUp, signUpAda, signUpBob } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const texts = getTexts('en').admin;
const MINUTE_MS = 60_000;

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
const bob = await signUpBob(app);
const signUpAdmin = () => signUp(app, { name: 'Ada', role: 'ADMIN' });
await signUpAda(app);

/** What an admin may do in any session. Every other action of admins changes something. */
const READS: readonly WebActionName[] = [
  'getServiceOverview',
  'checkInstallation',
  'listAccounts',
  'getAccount',
  'listCoupons',
  'getCoupon',
  'getSystemSettings',
  'listAudit',
  'listProviders',
  'listClients',
];

t.test('Every change by an admin is refused in a session that is not confirmed', async (t) => {
  const ada = await signUpAdmin();
  const actions = buildWebActions(ctx);
  const client = { address: '127.0.0.1' };
  const names = Object.keys(WEB_ACTIONS) as WebActionName[];
  const changes = names.filter((name) => WEB_ACTIONS[name].access === 'admin' && !READS.includes(name));
  t.ok(changes.length > 0);
  clock.advance(15 * MINUTE_MS);
  const opened = await actions.openSession(ada.token, client);
  if (!opened.success) return t.fail('The session has ended.');
  for (const name of changes) {
    for (const session of [opened.data.session, ada.token]) {
      const result = await actions[name](session as never, {} as never);
      t.match(result, { success: false, code: 'CONFIRMATION_REQUIRED' }, name);
    }
  }
});

t.test('A change is possible for 15 minutes after the sign-in', async (t) => {
  const ada = await signUpAdmin();
  const admin = visit(app, ada);
  clock.advance(15 * MINUTE_MS - 1);
  t.match(await admin.submit(await admin.open('/admin/settings'), 'Save'), { heading: 'System settings' });
  clock.advance(1);
  t.match(await admin.submit(await admin.open('/admin/settings'), 'Save'), { heading: texts.confirm });
});

t.test('The password confirms for 15 minutes, and leads back to the form with what was typed', async (t) => {
  const admin = visit(app, await signUpAdmin());
  clock.advance(16 * MINUTE_MS);
  const values = { code: 'SUMMER', value: '30', maxUses: '7', expiresAt: '2027-01-01T00:00' };
  const asked = await admin.submit(await admin.open('/admin/coupons/new'), 'Create coupon', values);
  t.match(asked, { status: 200, heading: texts.confirm });
  const wrong = await admin.submit(asked, 'Confirm', { currentPassword: 'Wrong-2026' });
  t.match(wrong, { status: 422, heading: texts.confirm, text: /is wrong/ });
  t.equal(wrong.document.querySelector('#currentPassword')?.getAttribute('value'), '');
  const back = await admin.submit(wrong, 'Confirm', { currentPassword: PASSWORD });
  t.match(back, { heading: 'New coupon', text: /Confirmed\..*Nothing is saved yet/ });
  const made = await admin.submit(back, 'Create coupon');
  t.match(made, { heading: 'SUMMER', text: /\+30 days.*0 of 7/ });
  clock.advance(15 * MINUTE_MS);
  t.match(await admin.submit(made, 'Save'), { heading: texts.confirm });
});

t.test('A link from another person fills in no form', async (t) => {
  const admin = visit(app, await signUpAdmin());
  clock.advance(16 * MINUTE_MS);
  const form = await admin.open('/admin/settings');
  const { document } = await admin.submit(form, 'Save', { defaultModel: 'typed/model' });
  const own = document.querySelector('input[name=next]')?.getAttribute('value')?.replaceAll('&amp;', '&') ?? '';
  const shown = async (address: string, visitor = admin) =>
    (await visitor.open(address)).document.querySelector('#defaultModel')?.getAttribute('value');
  t.equal(await shown(own), 'typed/model');
  t.not(await shown(own.replace('typed', 'evil')), 'evil/model');
  t.not(await shown('/admin/settings?defaultModel=evil/model&kept=1'), 'evil/model');
  t.not(await shown(own, visit(app, await signUpAdmin())), 'typed/model');
});

t.test('A confirmation counts for one session', async (t) => {
  const ada = await signUpAdmin();
  clock.advance(16 * MINUTE_MS);
  const other = visit(app);
  await other.submit(await other.open('/sign-in'), 'Sign in', { email: ada.email, password: PASSWORD });
  const first = visit(app, ada);
  t.match(await first.submit(await first.open('/admin/settings'), 'Save'), { heading: texts.confirm });
  t.match(await other.submit(await other.open('/admin/settings'), 'Save'), { text: /settings are saved/ });
});

t.test('Guesses of the password are limited', async (t) => {
  const ada = await signUpAdmin();
  const admin = visit(app, ada);
  const page = await admin.open('/admin/confirm');
  for (let attempt = 1; attempt <= 5; attempt++) {
    t.match(await admin.submit(page, 'Confirm', { currentPassword: 'Wrong-2026' }), { status: 422 });
  }
  t.match(await admin.submit(page, 'Confirm', { currentPassword: PASSWORD }), {
    status: 429,
    text: /Too many attempts/,
  });
});

t.test('An account without a password has to sign in again', async (t) => {
  const ada = await signUpAdmin();
  await ctx.db.execute(`update users set password_hash = null where id = ${ada.id}`);
  const admin = visit(app, ada);
  const page = await admin.open('/admin/confirm?next=/admin/settings');
  t.match(page, { status: 200, text: /no password.*Sign out/ });
  t.notOk(page.document.querySelector('#currentPassword'));
});

t.test('A confirmation leads nowhere but to pages of Carillon', async (t) => {
  const admin = visit(app, await signUpAdmin());
  for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)', '']) {
    const page = await admin.open(`/admin/confirm?next=${encodeURIComponent(next)}`);
    t.match(page.document.querySelector('input[name=next]')?.getAttribute('value'), /^\/(?![/\\])/, next);
    t.match(await admin.submit(page, 'Confirm', { currentPassword: PASSWORD, next }), { heading: 'Administration' });
  }
});

t.test('Pages of administration do not exist for others, and ask a guest to sign in', async (t) => {
  const routes = listRoutes(app).filter(({ url }) => url === '/admin' || url.startsWith('/admin/'));
  t.ok(routes.length > 20);
  for (const { method, url } of routes.filter((route) => ![route.method].flat().includes('HEAD'))) {
    const address = url.replace(':id', String(bob.id));
    const user = visit(app, bob);
    const home = await user.open('/');
    if (method === 'GET') {
      t.match(await user.open(address), { status: 404, heading: 'Page not found' }, url);
      t.match(await visit(app).open(address), { heading: 'Sign in' }, url);
    } else {
      const guest = visit(app);
      home.document.querySelector('form.me')?.setAttribute('action', address);
      t.match(await user.submit(home, 'Sign out'), { status: 404 }, url);
      const door = await guest.open('/sign-in');
      door.document.querySelector('main form')?.setAttribute('action', address);
      t.match(await guest.submit(door, 'Sign in'), { status: 200, heading: 'Sign in' }, url);
    }
  }
});
