import { connect, settings, users } from '@carillon/db';
import t from 'tap';
import { describeAddress } from '../../../src/entry/describe-address.ts';
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
  t.match(await findSetupPath(ctx), /^\/setup\?token=\d+\.[\w-]{43}$/);
  t.equal(await findSetupPath({ ...ctx, config: { ...ctx.config, dashboard: false } }), null);
  const bootstrapAdmin = { email: 'ada@example.com', password: PASSWORD };
  t.equal(await findSetupPath({ ...ctx, config: { ...ctx.config, bootstrapAdmin } }), null);
  await signUpAlice(app);
  t.equal(await findSetupPath(ctx), null);
});

t.test('In production a setup link is printed in a terminal only', async (t) => {
  const config = { production: true, port: 3000, appUrl: 'https://carillon.example.com' };
  const started = { url: 'http://127.0.0.1:3000', setupPath: '/setup?token=secret' };
  t.match(describeAddress(config, started, true), 'at https://carillon.example.com/setup?token=secret\n');
  t.notMatch(describeAddress(config, started, false), 'secret');
  t.match(describeAddress(config, started, false), 'pnpm carillon setup-link');
  t.match(describeAddress({ ...config, production: false }, started, false), 'secret');
  t.equal(
    describeAddress({ ...config, port: 0 }, { ...started, setupPath: null }, true),
    'Carillon runs at http://127.0.0.1:3000',
  );
});
