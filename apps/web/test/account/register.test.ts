import { eq } from 'drizzle-orm';
import t from 'tap';
import { settings, users } from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD, signUp, signUpAlice } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const HOSTILE = '"><script>alert(1)</script> ‮{{7*7}}';

t.test('A visitor registers, is signed in, and lands on the page that asked for it', async (t) => {
  const visitor = visit(app);
  const signIn = await visitor.open('/sign-in?next=%2Ftasks');
  const href = signIn.document.querySelectorAll('a').find((one) => one.text === 'Create an account');
  const form = await visitor.open(href?.getAttribute('href')?.replaceAll('&amp;', '&') ?? '');
  t.match(form, { status: 200, heading: 'Create an account' });
  const values = { name: 'Nina', email: ' Nina@Example.com ', password: PASSWORD, timezone: 'Asia/Tokyo' };
  t.match(await visitor.submit(form, 'Create account', values), { status: 200, url: '/tasks', heading: 'Tasks' });
  const [nina] = await ctx.db.select().from(users).where(eq(users.email, 'nina@example.com'));
  t.match(nina, { name: 'Nina', email: 'nina@example.com', timezone: 'Asia/Tokyo', role: 'USER' });
});

t.test(
  'A refused registration shows what is wrong at its fields, and keeps what was typed but the password',
  async (t) => {
    const visitor = visit(app);
    const form = await visitor.open('/register');
    const values = { name: HOSTILE, email: 'nobody', password: 'short', timezone: 'Europe/Paris' };
    const page = await visitor.submit(form, 'Create account', values);
    t.match(page, { status: 422, heading: 'Create an account', text: /Correct 2 fields/ });
    const field = (name: string) => page.document.querySelector(`[name=${name}]`);
    t.equal(field('name')?.getAttribute('value'), HOSTILE);
    t.notMatch(page.response.body, '<script>alert');
    t.equal(field('email')?.getAttribute('aria-invalid'), 'true');
    t.match(page.document.querySelector('#password-error')?.text, /at least 8 characters/);
    t.equal(field('password')?.getAttribute('value'), '');
    t.equal(field('timezone')?.querySelector('option[selected]')?.text, 'Europe/Paris');
  },
);

t.test('A zone that does not exist is refused at its field', async (t) => {
  const visitor = visit(app);
  const values = { name: 'Nobody', email: 'nobody@example.com', password: PASSWORD, timezone: 'Mars/Olympus' };
  const page = await visitor.submit(await visitor.open('/register'), 'Create account', values);
  t.equal(page.status, 422);
  t.ok(page.document.querySelector('#timezone-error'));
});

t.test('An address with an account is refused at its field', async (t) => {
  const { email } = alice;
  const visitor = visit(app);
  const values = { name: 'Other', email, password: PASSWORD };
  const page = await visitor.submit(await visitor.open('/register'), 'Create account', values);
  t.match(page, { status: 409 });
  t.match(page.document.querySelector('#email-error')?.text, /has an account already/);
  t.notOk(visitor.cookies.has('local-session'));
});

t.test('The sign-in says that Carillon is under maintenance, and registering is closed', async (t) => {
  const admin = await signUp(app, { role: 'ADMIN', name: 'Ada' });
  const turn = (maintenanceMode: boolean) => ctx.db.update(settings).set({ maintenanceMode });
  await turn(true);
  t.teardown(async () => void (await turn(false)));
  const visitor = visit(app);
  const page = await visitor.open('/sign-in');
  t.match(page, { status: 200, text: /under maintenance. Only administrators can sign in/ });
  const home = await visitor.submit(page, 'Sign in', { email: admin.email, password: PASSWORD });
  t.match(home, { status: 200, heading: 'Home' });
  const values = { name: 'Late', email: 'late@example.com', password: PASSWORD };
  const other = visit(app);
  t.match(await other.submit(await other.open('/register'), 'Create account', values), { status: 503 });
});

t.test('A deactivated account is told so', async (t) => {
  const { email, id } = await signUp(app, { name: 'Dora' });
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, id));
  const visitor = visit(app);
  const page = await visitor.submit(await visitor.open('/sign-in'), 'Sign in', { email, password: PASSWORD });
  t.match(page, { heading: 'Sign in', text: /This account is deactivated/ });
});

t.test('A browser that refuses cookies is told why on the sign-in page', async (t) => {
  const visitor = visit(app);
  const page = await visitor.open('/sign-in');
  visitor.cookies.clear();
  const again = await visitor.submit(page, 'Sign in', { email: 'alice@example.com', password: PASSWORD });
  t.match(again, {
    url: '/sign-in?error=cookies',
    heading: 'Sign in',
    text: /Your browser does not keep the sign-in cookie/,
  });
});

t.test('An installation whose cookies no browser keeps says so before the sign-in', async (t) => {
  const { app } = await testContext(t, { env: { BASE_URL: 'http://192.168.1.5:3000' } });
  const page = await visit(app).open('/sign-in');
  t.match(page, { status: 200, text: /on localhost only. Open Carillon over https, or set COOKIE_SECURE=false/ });
});

t.test('A form from another address of the service names the right one', async (t) => {
  const page = await app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { origin: 'http://192.168.1.5:3000', accept: 'text/html' },
  });
  t.equal(page.statusCode, 403);
  t.match(page.body, 'where Carillon runs. Open Carillon there');
});

t.test('Mistakes in the form do not use up the registrations of a client, accounts do', async (t) => {
  const { app } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const visitor = visit(app);
  const form = await visitor.open('/register');
  const register = (n: number, password: string) =>
    visitor.submit(form, 'Create account', { name: 'Nina', email: `nina-${n}@example.com`, password });
  for (const n of [1, 2, 3, 4]) t.equal((await register(n, 'weak')).status, 422);
  for (const n of [1, 2, 3]) {
    t.match(await register(n, PASSWORD), { status: 200, heading: 'Home' });
    visitor.cookies.delete('local-session');
  }
  t.match(await register(4, PASSWORD), { status: 429, text: /Too many attempts. Try again in 1 h/ });
});
