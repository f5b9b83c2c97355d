import t from 'tap';
import { auditLog, users } from '../../../../packages/db/src/index.ts';
import { buildSetupPath } from '../../../api/src/product/auth/setup/link.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const VALUES = { name: 'Ada', email: 'ada@example.com', password: PASSWORD, timezone: 'Europe/Berlin' };

t.test('The sign-in says where the first account is created, while there is none', async (t) => {
  const { text } = await visit(app).open('/sign-in');
  t.match(text, /No account yet. Open the setup link that the terminal shows/);
  t.notMatch(text, /Create an account/, 'which would be no administrator');
});

t.test('A setup link works for an hour', async (t) => {
  const path = buildSetupPath(ctx);
  const visitor = visit(app);
  const page = await visitor.open(path);
  t.match(page, { status: 200, heading: 'Welcome to Carillon' });
  clock.advance(60 * 60 * 1000);
  t.match(await visitor.open(path), { status: 410, heading: 'This setup link has expired' });
  t.match(await visitor.submit(page, 'Create account', VALUES), { status: 410 });
  t.equal(await ctx.db.$count(users), 0);
});

t.test('A setup link that Carillon has not made is refused', async (t) => {
  const path = buildSetupPath(ctx);
  const [, token = ''] = path.split('=');
  const [signature, until] = [token.slice(0, 22), token.slice(22)];
  const later = (Number.parseInt(until, 36) + 1).toString(36);
  const wrong = [
    '',
    until,
    signature,
    `${signature}${later}`,
    `${signature.slice(0, -2)}AA${until}`,
    `${token}0`,
    `${signature}0${until}`,
    `${signature}${until.toUpperCase()}`,
    `${'é'.repeat(22)}${until}`,
  ];
  for (const token of wrong) {
    const page = await visit(app).open(`/setup?token=${encodeURIComponent(token)}`);
    t.match(page, { status: 404, heading: 'This setup link does not work' }, token);
  }
  t.match(await visit(app).open('/setup'), { status: 404 });
});

t.test('A refused form keeps what was typed, and the link', async (t) => {
  const visitor = visit(app);
  const page = await visitor.open(buildSetupPath(ctx));
  const again = await visitor.submit(page, 'Create account', { ...VALUES, password: 'weak' });
  t.match(again, { status: 422, heading: 'Welcome to Carillon' });
  t.equal(again.document.querySelector('[name=email]')?.getAttribute('value'), VALUES.email);
  t.ok(again.document.querySelector('#password-error'));
  t.equal(await ctx.db.$count(users), 0);
});

t.test('A setup link makes the first admin and signs in, and then does nothing any more', async (t) => {
  const visitor = visit(app);
  const path = buildSetupPath(ctx);
  const page = await visitor.open(path);
  const home = await visitor.submit(page, 'Create account', VALUES);
  t.match(home, { status: 200, url: '/admin/providers/new', heading: 'Which AI answers?' });
  t.match(home.document.querySelector('nav')?.text, /Administration/);
  t.match(await ctx.db.select().from(users), [{ email: VALUES.email, role: 'ADMIN', timezone: 'Europe/Berlin' }]);
  t.match((await ctx.db.select().from(auditLog))[0], { kind: 'user.registered', details: { by: 'setup link' } });
  const values = { ...VALUES, email: 'other@example.com' };
  const late = visit(app);
  t.notMatch((await late.open('/sign-in')).text, /No account yet/);
  t.match(await late.open(path), { status: 410, heading: 'Carillon is already set up' });
  t.match(await visitor.open(buildSetupPath(ctx)), { status: 410 });
  const stale = visit(app);
  const form = await stale.open('/register');
  const answer = await app.inject({
    method: 'POST',
    url: '/setup',
    headers: {
      origin: 'http://localhost:3000',
      cookie: `csrf=${stale.cookies.get('csrf')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams({
      ...values,
      token: path.split('=')[1] ?? '',
      _csrf: form.document.querySelector('[name=_csrf]')?.getAttribute('value') ?? '',
    }).toString(),
  });
  t.equal(answer.statusCode, 410);
  t.equal(await ctx.db.$count(users), 1);
});
