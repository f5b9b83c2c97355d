import t from 'tap';
import { testContext } from '../../api/test/support/context.ts';
import { PASSWORD, signUpAlice } from '../../api/test/support/people.ts';
import { visit } from './support/visitor.ts';

const { app } = await testContext(t);
const { email } = await signUpAlice(app);

t.test('A visitor signs in, and lands on the page that asked for it', async (t) => {
  const visitor = visit(app);
  const asked = await visitor.open('/tasks?search=news');
  t.match(asked, { status: 200, heading: 'Sign in', url: '/sign-in?next=%2Ftasks%3Fsearch%3Dnews' });
  const page = await visitor.submit(asked, 'Sign in', { email, password: PASSWORD });
  t.match(page, { status: 200, heading: 'Tasks', url: '/tasks?search=news' });
  const out = await visitor.submit(page, 'Sign out');
  t.match(out, { heading: 'Sign in', text: /You are signed out/ });
  t.notOk(visitor.cookies.has('local-session'));
});

t.test('A wrong password keeps the address and says so', async (t) => {
  const visitor = visit(app);
  const page = await visitor.submit(await visitor.open('/sign-in'), 'Sign in', { email, password: 'Wrong-2026' });
  t.match(page, { status: 422, heading: 'Sign in', text: /The e-mail address or the password is wrong/ });
  t.equal(page.document.querySelector('input[name=email]')?.getAttribute('value'), email);
  t.equal(page.document.querySelector('input[name=password]')?.getAttribute('value'), '');
});

t.test('A form without its token, or with that of another visitor, is refused', async (t) => {
  const visitor = visit(app);
  const page = await visitor.open('/sign-in');
  const values = { email, password: PASSWORD };
  t.match(await visitor.submit(page, 'Sign in', { ...values, _csrf: '' }), {
    status: 403,
    heading: 'Form not accepted',
  });
  const stranger = visit(app);
  const foreign = await stranger.open('/sign-in');
  t.match(await visitor.submit(foreign, 'Sign in', values), { status: 403 });
  t.match(await visitor.submit(page, 'Sign in', values), { status: 200, url: '/' });
});

t.test('A link to another host after the sign-in is ignored', async (t) => {
  for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', '/\t/evil.example', 'tasks']) {
    const page = await visit(app).open(`/sign-in?next=${encodeURIComponent(next)}`);
    t.match(page.document.querySelector('input[name=next]')?.getAttribute('value'), /^\/([^/\\]|$)/, next);
  }
});
