import { connect, settings, users } from '@carillon/db';
import t from 'tap';
import { composeBanner, getTerminalTexts } from '../../../src/entry/banner.ts';
import { setUp } from '../../../src/product/auth/setup/first-admin.ts';
import { buildSetupPath, findSetupPath } from '../../../src/product/auth/setup/link.ts';
import { testContext } from '../../support/context.ts';
import { untilBlocked } from '../../support/database.ts';
import { PASSWORD, signUpAlice } from '../../support/people.ts';

const { app, ctx, databaseUrl } = await testContext(t);

t.test('Of setups that race at two processes, one makes the admin', async (t) => {
  const processes = [connect(databaseUrl, { max: 4 }), connect(databaseUrl, { max: 4 })];
  t.teardown(() => Promise.all(processes.map(({ close }) => close())));
  const token = buildSetupPath(ctx).split('=')[1] ?? '';
  const attempts = [0, 1, 2, 3].map((n) => ({
    ctx: { ...ctx, db: processes[n % 2]?.db ?? ctx.db },
    account: { token, name: `Admin ${n}`, email: `admin-${n}@example.com`, password: PASSWORD },
  }));
  const racing = await ctx.db.transaction(async (tx) => {
    // All have seen that there is no account before the first may go on.
    await tx.select({ id: settings.id }).from(settings).for('update');
    const started = attempts.map(({ ctx, account }) => setUp(ctx, account));
    await untilBlocked(ctx.db, attempts.length);
    return started;
  });
  const outcomes = await Promise.all(racing);
  t.equal(outcomes.filter(({ opened }) => opened).length, 1);
  t.equal(outcomes.filter(({ state }) => state === 'used').length, 3);
  t.match(await ctx.db.select({ role: users.role }).from(users), [{ role: 'ADMIN' }]);
});

t.test('A setup link is offered only with pages, without an account, and without another first admin', async (t) => {
  await ctx.db.delete(users);
  t.match(await findSetupPath(ctx), /^\/setup\?token=[\w-]{22}[a-z0-9]{5}$/);
  t.equal(await findSetupPath({ ...ctx, config: { ...ctx.config, dashboard: false } }), null);
  const bootstrapAdmin = { email: 'ada@example.com', password: PASSWORD };
  t.equal(await findSetupPath({ ...ctx, config: { ...ctx.config, bootstrapAdmin } }), null);
  await signUpAlice(app);
  t.equal(await findSetupPath(ctx), null);
});

t.test('A start prints the address first, with the link to the first account, then provider and mail', async (t) => {
  const started = {
    url: 'http://127.0.0.1:3000',
    setupPath: '/setup?token=secret',
    provider: 'offline',
    mail: '.data/mail',
  };
  const config = { port: 3000, appUrl: 'https://carillon.example.com', mail: { smtpUrl: null } };
  const english = getTerminalTexts({ LANG: 'C.UTF-8' });
  t.equal(
    composeBanner(config, started, english),
    `Carillon runs at https://carillon.example.com/setup?token=secret
Open it within an hour to create your account.

Provider: offline (set AI_BASE_URL)
Mail: files in .data/mail (set SMTP_URL)`,
  );
  const mail = { smtpUrl: 'smtp://user:password@mail.example.com' };
  const others = { setupPath: null, provider: 'https://ai.example.com/v1, Anthropic', mail: 'smtp://mail.example.com' };
  t.equal(
    composeBanner({ ...config, port: 0, mail }, { ...started, ...others }, english),
    `Carillon runs at http://127.0.0.1:3000

Provider: https://ai.example.com/v1, Anthropic
Mail: smtp://mail.example.com`,
  );
  const portuguese = getTerminalTexts({ LANG: 'en_US.UTF-8', LC_ALL: 'pt_BR.UTF-8' });
  t.match(composeBanner(config, started, portuguese), /^O Carillon está em https/);
});
