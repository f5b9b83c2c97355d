import { getTexts } from '@carillon/texts';
import t from 'tap';
import { openSession } from '../../../api/src/product/auth/sessions.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { describeUserAgent } from '../../src/pages/settings/user-agents.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const texts = getTexts('en');
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const signInWith = (userAgent: string, userId = alice.id) =>
  openSession({ ...ctx, origin: { address: '203.0.113.7', userAgent } }, userId);

t.test('The sessions are listed with the browser in words, and this one is marked', async (t) => {
  await signInWith(FIREFOX);
  await signInWith('"><script>alert(1)</script>');
  clock.advance(60_000 * 5);
  const page = await visit(app, alice).open('/settings/security');
  t.match(page, {
    status: 200,
    heading: 'Settings',
    text: /Firefox on Linux ?203\.0\.113\.7 ?Today at 10:00 ?5 minutes ago/,
  });
  t.notMatch(page.response.body, '<script>alert');
  const [first] = page.document.querySelectorAll('tbody tr');
  t.match(first?.text, /this one/);
  t.equal(page.document.querySelectorAll('tbody form').length, 2);
});

t.test('One session is ended, or all but this one', async (t) => {
  const visitor = visit(app, alice);
  const page = await visitor.open('/settings/security');
  const ended = await visitor.submit(page, 'End');
  t.match(ended, { url: '/settings/security#sessions', text: /The session is ended/ });
  t.equal(ended.document.querySelectorAll('tbody tr').length, 2);
  t.match(await visitor.submit(page, 'End'), { text: texts.settings.sessionMissing });
  const { token } = await signInWith(FIREFOX);
  const other = visit(app, { token });
  t.match(await other.open('/settings'), { heading: 'Settings' });
  t.match(await visitor.submit(ended, 'End all others'), { text: /2 sessions ended/ });
  t.match(await other.open('/settings'), { heading: 'Sign in' });
  const alone = await visitor.open('/settings/security');
  t.equal(alone.document.querySelectorAll('tbody tr').length, 1);
  t.notMatch(alone.text, /End all others/);
});

t.test("A stranger's session goes on", async (t) => {
  const bob = await signUpBob(app);
  const mallory = await signInWith(FIREFOX);
  const visitor = visit(app, alice);
  const page = await visitor.open('/settings/security');
  const sessions = await app.inject({ url: '/api/auth/sessions', headers: bob.headers });
  const form = page.document.querySelector('tbody form');
  form?.setAttribute('action', `/settings/sessions/${sessions.json().sessions[0].id}/end`);
  t.match(await visitor.submit(page, 'End'), { text: texts.settings.sessionMissing });
  t.match(await visit(app, bob).open('/settings'), { heading: 'Settings' });
  form?.setAttribute('action', '/settings/sessions/no-uuid/end');
  t.equal((await visitor.submit(page, 'End')).status, 400);
  t.ok(mallory);
});

t.test('A user agent is told in words, and an unknown one is cut', (t) => {
  const agents: [string | null, string][] = [
    [FIREFOX, 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari on macOS',
    ],
    ['curl/8.14.1', 'curl'],
    ['python-requests/2.32', 'Python program'],
    [null, 'Unknown program'],
    ['  ', 'Unknown program'],
    ['x'.repeat(10_000), `${'x'.repeat(60)}…`],
  ];
  for (const [agent, words] of agents) t.equal(describeUserAgent(agent, texts), words);
  t.end();
});
