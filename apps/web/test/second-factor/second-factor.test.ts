import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { addTotp, readCode } from '../../../api/test/support/factors.ts';
import { PASSWORD, type Person, signUp, signUpAda } from '../../../api/test/support/people.ts';
import { type ShownPage, type Visitor, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
const STEP = 30_000;
const LIST = '/settings/second-factor';
const signIn = async (visitor: Visitor, { email }: Person) =>
  visitor.submit(await visitor.open('/sign-in?next=/tasks'), 'Sign in', { email, password: PASSWORD });
const readCodes = ({ document }: ShownPage) => document.querySelectorAll('.codes code').map(({ text }) => text);

t.test('An app is added and signs in without scripts', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const security = await visitor.open('/settings/security');
  t.match(security.text, /With a second factor, a stolen password is not enough/);
  const list = await visitor.follow(security, 'Add a second factor');
  const form = await visitor.submit(list, 'Add an authenticator app', { name: 'Phone' });
  t.match(form, { status: 200, heading: 'Add an authenticator app' });
  t.equal(form.document.querySelector('svg.qr')?.getAttribute('aria-label'), 'QR code for the authenticator app');
  const secret = (form.document.querySelector('.secret')?.text ?? '').replaceAll(' ', '');
  const wrong = await visitor.submit(form, 'Turn on', { code: '000000' });
  t.match(wrong, { status: 422, text: /is wrong. Check the clock of your phone/ });
  t.match(wrong.text, secret.slice(0, 4), 'the same secret');
  const done = await visitor.submit(wrong, 'Turn on', { code: readCode(secret, ctx.now()) });
  t.match(done, { status: 200, heading: 'Recovery codes', text: new RegExp(`For ${alice.email} at localhost`) });
  const codes = readCodes(done);
  t.equal(codes.length, 10);
  t.match((await visitor.follow(done, 'I have kept them')).text, /PhoneAuthenticator app.*10 codes left/);

  clock.advance(STEP);
  const guest = visit(app);
  const step = await signIn(guest, alice);
  t.match(step, { status: 200, heading: 'Second factor', text: /Ask the people who run this service/ });
  t.equal(guest.cookies.get('local-session'), undefined);
  const refused = await guest.submit(step, 'Sign in', { code: '000 000' });
  t.match(refused, { status: 401, text: /is wrong, or was used before/ });
  const inside = await guest.submit(refused, 'Sign in', { code: readCode(secret, ctx.now()) });
  t.match(inside, { status: 200, url: '/tasks' });
  t.equal(guest.cookies.get('sign-in-ticket'), undefined);

  const lost = visit(app);
  t.match(await lost.submit(await signIn(lost, alice), 'Sign in', { code: codes[0]?.toUpperCase() ?? '' }), {
    url: '/tasks',
  });
});

t.test('The story of a lost phone ends well, in Portuguese too', async (t) => {
  const maria = await signUp(app);
  const { id, recoveryCodes } = await addTotp(app, maria, ctx.now());
  await visit(app, maria).open('/settings');
  clock.advance(24 * 60 * 60_000);
  const visitor = visit(app, null, 'pt-BR');
  const page = await visitor.open('/sign-in');
  const step = await visitor.submit(page, 'Entrar', { email: maria.email, password: PASSWORD });
  t.match(step, { heading: 'Segundo fator', text: /Perdeu o aparelho\?Digite um código de recuperação/ });
  const inside = await visitor.submit(step, 'Entrar', { code: recoveryCodes[7] ?? '' });
  t.equal(inside.status, 200);
  const deletion = await visitor.open(`${LIST}/${id}/delete`);
  t.match(deletion.text, /your last one/);
  const list = await visitor.submit(deletion, 'Delete second factor');
  t.match(list, { url: LIST, text: /The second factor is deleted/ });
  const form = await visitor.submit(list, 'Add an authenticator app');
  const secret = (form.document.querySelector('.secret')?.text ?? '').replaceAll(' ', '');
  const codes = readCodes(await visitor.submit(form, 'Turn on', { code: readCode(secret, ctx.now()) }));
  t.equal(codes.length, 10);
  t.notOk(codes.includes(recoveryCodes[8] ?? ''));
});

t.test('In an old session, factors change once one of them was given', async (t) => {
  const alice = await signUp(app);
  const { recoveryCodes } = await addTotp(app, alice, ctx.now());
  clock.advance(15 * 60_000);
  const visitor = visit(app, alice);
  const list = await visitor.open(LIST);
  t.equal(list.document.querySelectorAll('main form').length, 0);
  const confirm = await visitor.follow(list, 'Confirm');
  t.match(confirm, { status: 200, heading: 'Confirm that it is you' });
  t.equal(confirm.document.querySelector('[name=password]'), null, 'the password is not asked for');
  t.match(await visitor.submit(confirm, 'Confirm', { code: '000000' }), {
    status: 422,
    text: /is wrong, or was used before/,
  });
  const back = await visitor.submit(confirm, 'Confirm', { code: recoveryCodes[0] ?? '' });
  t.match(back, { status: 200, url: LIST, text: /9 codes left/ });
  const replaced = await visitor.submit(back, 'Create new codes');
  t.equal(readCodes(replaced).length, 10);
  clock.advance(15 * 60_000);
  t.match(await visitor.submit(back, 'Create new codes'), { heading: 'Confirm that it is you' });
  t.match(await visitor.submit(back, 'Add an authenticator app'), { heading: 'Confirm that it is you' });
});

t.test('A sign-in without a ticket, or with an old one, starts again', async (t) => {
  const alice = await signUp(app);
  await addTotp(app, alice, ctx.now());
  t.match(await visit(app).open('/sign-in/second-factor'), { url: '/sign-in', text: /took too long. Start again/ });
  const visitor = visit(app);
  const step = await signIn(visitor, alice);
  clock.advance(5 * 60_000);
  const late = await visitor.submit(step, 'Sign in', { code: '123456' });
  t.match(late, { url: '/sign-in?next=%2Ftasks', text: /took too long. Start again/ });
});

t.test('Who needs a factor is led to add one, whatever page they open', async (t) => {
  const ada = await signUpAda(app);
  const alice = await signUp(app);
  const admin = visit(app, ada);
  const settings = await admin.open('/admin/settings');
  const sections = settings.document.querySelectorAll('main form');
  t.ok(sections.some((form) => form.getAttribute('action') === '/admin/security'));
  settings.document
    .querySelectorAll('main form')
    .find((form) => form.getAttribute('action') === '/admin/settings')
    ?.remove();
  t.match(await admin.submit(settings, 'Save', { secondFactor: 'all' }), {
    url: LIST,
    text: /requires a second factor/,
  });
  const visitor = visit(app, alice);
  for (const url of ['/', '/tasks', '/settings', '/settings/security', '/agent']) {
    t.match(await visitor.open(url), { url: LIST, heading: 'Second factor' }, url);
  }
  const form = await visitor.submit(await visitor.open(LIST), 'Add an authenticator app');
  const secret = (form.document.querySelector('.secret')?.text ?? '').replaceAll(' ', '');
  await visitor.submit(form, 'Turn on', { code: readCode(secret, ctx.now()) });
  t.match(await visitor.open('/tasks'), { status: 200, url: '/tasks' });
  t.match(await admin.submit(await admin.open(LIST), 'Sign out'), { url: '/sign-in' });
});
