import t from 'tap';
import { testContext } from '../../support/context.ts';
import { allow, ask, CLAUDE, exchange, refresh } from '../../support/oauth-client.ts';
import { signUpAlice } from '../../support/people.ts';

const BASE_URL = 'https://carillon.example.com';
const { app } = await testContext(t, { env: { BASE_URL, DASHBOARD: 'true' } });
const alice = await signUpAlice(app);

t.test('A program gets a code and tokens, which are good for /mcp', async (t) => {
  const allowed = await allow(app, alice, CLAUDE);
  t.equal(allowed.to.origin + allowed.to.pathname, CLAUDE.redirect);
  t.equal(allowed.to.searchParams.get('iss'), BASE_URL);
  t.equal(allowed.to.searchParams.get('state'), 'state-of-the-program');
  const answer = await exchange(app, CLAUDE, allowed);
  t.equal(answer.statusCode, 200, answer.body);
  const tokens = answer.json();
  t.match(tokens, { token_type: 'Bearer', expires_in: 86_400, refresh_token: /.{40,}/ });
  t.equal((await ask(app, tokens.access_token)).statusCode, 200);
  const refreshed = await refresh(app, CLAUDE, tokens.refresh_token);
  t.equal(refreshed.statusCode, 200, refreshed.body);
  t.equal((await ask(app, refreshed.json().access_token)).statusCode, 200);
  t.equal((await ask(app, tokens.access_token)).statusCode, 200);
  t.comment(JSON.stringify(refreshed.json()));
  const session = await app.inject({ url: '/api/tasks', headers: { authorization: `Bearer ${tokens.access_token}` } });
  t.equal(session.statusCode, 401, 'nothing else');
  const apps = await app.inject({ url: '/api/user/apps', headers: alice.headers });
  t.comment(apps.body);
});
