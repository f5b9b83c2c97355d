import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { insertCoupon } from '../../../api/test/support/coupons.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp, signUpAda } from '../../../api/test/support/people.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const { app, ctx } = await testContext(t);
const ada = await signUpAda(app);
const admin = visit(app, ada);

const readCoupon = async (id: number) =>
  (await app.inject({ url: `/api/admin/coupons/${id}`, headers: ada.headers })).json().coupon;

t.test('Without a coupon the list offers to create the first one', async (t) => {
  const { text, document } = await admin.open('/admin/coupons');
  t.match(text, getTexts('en').coupons.none);
  t.equal(document.querySelector('.empty a')?.getAttribute('href'), '/admin/coupons/new');
});

t.test('A coupon with a chosen code, days and limits is created and shown', async (t) => {
  const values = { code: 'spring-26', value: '30', maxUses: '7', expiresAt: '2027-01-01T00:00' };
  const page = await admin.submit(await admin.open('/admin/coupons/new'), 'Create coupon', values);
  t.match(page, {
    status: 200,
    heading: 'SPRING-26',
    text: /Coupon SPRING-26 is created.*\+30 days.*0 of 7/,
  });
  t.match((await admin.open('/admin/coupons')).text, /SPRING-26.*Valid.*\+30 days.*0 of 7/);
});

t.test('A coupon without anything chosen has a random code and no limit', async (t) => {
  const page = await admin.submit(await admin.open('/admin/coupons/new'), 'Create coupon');
  t.match(page.heading, /^(\w{4}-){3}\w{4}$/);
  t.match(page.text, /\+14 days.*Expires ?Never/);
});

t.test('A refused coupon keeps what was typed, with the message at its field', async (t) => {
  const form = await admin.open('/admin/coupons/new');
  const refusals = [
    [{ code: 'a b!' }, 'code', 422],
    [{ value: '0' }, 'value', 422],
    [{ value: 'ten' }, 'value', 422],
    [{ maxUses: 'many' }, 'maxUses', 422],
    [{ maxUses: '0' }, 'maxUses', 422],
    [{ expiresAt: 'tomorrow' }, 'expiresAt', 422],
  ] as const;
  for (const [values, field, status] of refusals) {
    const page = await admin.submit(form, 'Create coupon', values);
    t.match(page, { status, heading: 'New coupon' }, field);
    const control = page.document.querySelector(`#${field}`);
    t.equal(control?.getAttribute('aria-invalid'), 'true', field);
    t.equal(control?.getAttribute('value'), Object.values(values)[0], field);
  }
  const taken = await admin.submit(form, 'Create coupon', { code: 'SPRING-26' });
  t.match(taken, { status: 409, text: /A coupon with this code already exists/ });
});

t.test('A coupon is switched off and on, and its limits are changed or removed', async (t) => {
  const { id } = await insertCoupon(ctx, { maxUses: 3, expiresAt: new Date('2027-05-05T05:05:42Z') });
  const page = await admin.open(`/admin/coupons/${id}`);
  const off = await admin.submit(page, 'Save', { isActive: [], maxUses: '5' });
  t.match(off, { status: 200, text: /The coupon is saved.*Switched off/ });
  t.match(await readCoupon(id), { isActive: false, maxUses: 5, expiresAt: '2027-05-05T05:05:42.000Z' });
  await admin.submit(off, 'Save', { isActive: 'yes', maxUses: '', expiresAt: '' });
  t.match(await readCoupon(id), { isActive: true, maxUses: null, expiresAt: null });
  const refused = await admin.submit(page, 'Save', { maxUses: 'x' });
  t.match(refused, { status: 422 });
  t.equal(refused.document.querySelector('#maxUses')?.getAttribute('value'), 'x');
  t.match(await readCoupon(id), { maxUses: null }, 'a text is not taken for no limit');
});

t.test('A coupon shows who used it in few statements, and names stay text', async (t) => {
  const { id, code } = await insertCoupon(ctx);
  const eve = await signUp(app, { name: '<script>alert(1)</script>' });
  await app.inject({ method: 'POST', url: '/api/coupons/activate', headers: eve.headers, payload: { code } });
  const statements = countStatements(ctx.db);
  const page = await admin.open(`/admin/coupons/${id}`);
  t.equal(statements(), SESSION_STATEMENTS + 2);
  t.match(page.text, /<script>alert\(1\)<\/script>/);
  t.equal(page.document.querySelectorAll('main script').length, 0);
});

t.test('A coupon is deleted on a page of its own', async (t) => {
  const { id, code } = await insertCoupon(ctx);
  const page = await admin.open(`/admin/coupons/${id}/delete`);
  t.match(page, { heading: 'Delete coupon', text: new RegExp(`The code ${code} stops working`) });
  t.match(await admin.submit(page, 'Delete coupon'), { url: '/admin/coupons', text: /The coupon is deleted/ });
  t.match(await admin.open(`/admin/coupons/${id}`), { status: 404 });
  t.match(await admin.submit(page, 'Delete coupon'), { status: 404 });
});
