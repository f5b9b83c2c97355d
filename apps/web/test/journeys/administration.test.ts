import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD, signUp, signUpAda } from '../../../api/test/support/people.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const { app } = await testContext(t);
const admin = visit(app, await signUpAda(app));
const bob = await signUp(app, { name: 'Bob', email: 'bob@example.com' });

/** The latest entry of the audit log. */
async function readEntry(): Promise<string> {
  const { document } = await admin.open('/admin/audit');
  return (document.querySelector('tbody tr')?.text ?? '').replace(/\s+/g, ' ');
}

async function signInAsBob(): Promise<[ReturnType<typeof visit>, ShownPage]> {
  const visitor = visit(app);
  const door = await visitor.open('/sign-in');
  return [visitor, await visitor.submit(door, 'Sign in', { email: bob.email, password: PASSWORD })];
}

t.test('What an admin does to an account is felt by its owner and told by the audit log', async (t) => {
  const users = await admin.follow(await admin.open('/admin'), 'Users');
  const page = await admin.follow(users, 'Bob');
  await admin.submit(page, 'Save', { plan: 'pro' });
  t.match(await readEntry(), /Account changed.*ada@example\.com.*Plan: trial → Pro/);
  await admin.submit(await admin.open(page.url), 'Save', { role: 'ADMIN' });
  t.match(await readEntry(), /Account changed.*Role: user → administrator/);
  t.match((await visit(app, bob).open('/')).heading, 'Sign in');
  const [promoted, home] = await signInAsBob();
  t.match(await promoted.follow(home, 'Administration'), { heading: 'Administration' });
  await admin.submit(await admin.open(page.url), 'Save', { role: 'USER' });
  t.match(await readEntry(), /Account changed.*Role: administrator → user/);

  await admin.submit(await admin.open(page.url), 'Extend', { days: '10' });
  t.match(await readEntry(), /Account changed.*Trial ends: Fri 4 Dec, .* → Mon 14 Dec, /);
  const [member] = await signInAsBob();
  t.match(await member.open('/admin'), { status: 404 });
  t.match((await member.open('/settings')).text, /Trial ?Ends on 14 December/);

  await admin.submit(await admin.follow(await admin.open(page.url), 'Deactivate…'), 'Deactivate');
  t.match(await readEntry(), /Account changed.*Active: yes → no/);
  t.match((await member.open('/')).heading, 'Sign in');
  t.match((await signInAsBob())[1], { heading: 'Sign in', text: /This account is deactivated/ });
  await admin.submit(await admin.open(page.url), 'Reactivate');
  t.match(await readEntry(), /Account changed.*Active: no → yes/);
  t.match((await signInAsBob())[1], { heading: 'Home' });
});

t.test('A coupon is created, used by an account, changed and deleted', async (t) => {
  const coupons = await admin.follow(await admin.open('/admin'), 'Coupons');
  const coupon = await admin.submit(await admin.follow(coupons, 'New coupon'), 'Create coupon', {
    code: 'AUTUMN',
    value: '30',
    maxUses: '1',
  });
  t.match(await readEntry(), /Coupon created.*AUTUMN/);
  const [member] = await signInAsBob();
  const used = await member.submit(await member.open('/settings'), 'Use coupon', { code: 'autumn' });
  t.match(used.text, /Your trial is extended/);
  t.match(await readEntry(), /Coupon used.*bob@example\.com/);
  t.match((await admin.open(coupon.url)).text, /1 of 1.*bob@example\.com/);
  await admin.submit(await admin.open(coupon.url), 'Save', { maxUses: '5', isActive: [] });
  t.match(
    await readEntry(),
    /Coupon changed.*Active: yes → no.*Max. uses: 1 → 5|Coupon changed.*Max. uses: 1 → 5.*Active: yes → no/,
  );
  await admin.submit(await admin.follow(await admin.open(coupon.url), 'Delete…'), 'Delete coupon');
  t.match(await readEntry(), /Coupon deleted.*AUTUMN/);
  t.match(await admin.open(coupon.url), { status: 404 });
});

t.test('Settings and maintenance hold for everybody at once', async (t) => {
  await admin.submit(await admin.open('/admin/settings'), 'Save', { maxTasksPerUser: '1' });
  t.match(await readEntry(), /System settings changed.*Max. active tasks per user: 100 → 1/);
  const [member] = await signInAsBob();
  const task = { name: 'First', prompt: 'What is new in our field?' };
  await member.submit(await member.open('/tasks/new'), 'Save task', task);
  const second = await member.submit(await member.open('/tasks/new'), 'Save task', task);
  t.equal(second.status, 402);
  const maintenance = await admin.open('/admin/maintenance');
  await admin.submit(maintenance, 'Start maintenance');
  t.match(await readEntry(), /System settings changed.*Maintenance: no → yes/);
  t.match(await member.submit(second, 'Save task'), { status: 503, text: /maintenance/ });
  await admin.submit(await admin.open('/admin/maintenance'), 'End maintenance');
  t.match(await readEntry(), /System settings changed.*Maintenance: yes → no/);
  t.match(await member.open('/'), { status: 200 });
});

t.test('A deleted account is gone for its owner, and its entries stay in the audit log', async (t) => {
  const [member] = await signInAsBob();
  const page = await admin.follow(await admin.open('/admin/users'), 'Bob');
  await admin.submit(await admin.follow(page, 'Delete…'), 'Delete account', { email: bob.email });
  t.match(await readEntry(), /Account deleted.*ada@example\.com.*bob@example\.com/);
  t.match(await member.open('/tasks'), { heading: 'Sign in' });
  t.match((await signInAsBob())[1], { status: 422, heading: 'Sign in' });
  const log = await admin.open(`/admin/audit?account=${bob.id}`);
  t.match(log.text, /Account deleted.*Coupon used.*Account changed/);
});
