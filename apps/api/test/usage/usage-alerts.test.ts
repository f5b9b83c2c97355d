import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { INVALID_IDS } from '../support/tasks.ts';

const { app } = await testContext(t);

const ALERT = { threshold: 80, notifyEmail: true, notifyWebhook: false };
const set = ({ headers }: Person, payload: object) =>
  app.inject({ method: 'POST', url: '/api/usage/alerts', headers, payload });
const list = async ({ headers }: Person) => (await app.inject({ url: '/api/usage/alerts', headers })).json();
const remove = ({ headers }: Person, id: unknown) =>
  app.inject({ method: 'DELETE', url: `/api/usage/alerts/${id}`, headers });

t.test('An alert is set and returned with its id', async (t) => {
  const alice = await signUp(app);
  const answer = await set(alice, ALERT);
  t.equal(answer.statusCode, 200);
  const { id } = answer.json().alert;
  t.type(id, 'number');
  t.same(answer.json(), { success: true, alert: { id, ...ALERT } });
});

t.test('A threshold has one alert: setting it again changes it', async (t) => {
  const alice = await signUp(app);
  const { id } = (await set(alice, ALERT)).json().alert;
  const changed = { threshold: 80, notifyEmail: false, notifyWebhook: true };
  t.same((await set(alice, changed)).json(), { success: true, alert: { id, ...changed } });
  t.same(await list(alice), { success: true, alerts: [{ id, ...changed }] });
});

t.test('Concurrent requests for one threshold set one alert', async (t) => {
  const alice = await signUp(app);
  const answers = await Promise.all(Array.from({ length: 20 }, () => set(alice, ALERT)));
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
  t.equal((await list(alice)).alerts.length, 1);
});

t.test('The list has only the caller’s alerts, in the order of the thresholds', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  for (const threshold of [90, 1, 100, 50]) await set(alice, { ...ALERT, threshold });
  t.same(
    (await list(alice)).alerts.map(({ threshold }: { threshold: number }) => threshold),
    [1, 50, 90, 100],
  );
  t.same(await list(bob), { success: true, alerts: [] });
});

t.test('A deleted alert is not found a second time', async (t) => {
  const alice = await signUp(app);
  const { id } = (await set(alice, ALERT)).json().alert;
  t.same((await remove(alice, id)).json(), { success: true, message: 'The alert is deleted.' });
  t.equal((await remove(alice, id)).statusCode, 404);
  t.same((await list(alice)).alerts, []);
});

t.test('A stranger’s alert is not found, nor one that cannot exist', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const { id } = (await set(alice, ALERT)).json().alert;
  for (const wrong of [id, ...INVALID_IDS]) t.equal((await remove(bob, wrong)).statusCode, 404, String(wrong));
  t.equal((await list(alice)).alerts.length, 1);
});

t.test('A threshold is an integer from 1 to 100, and every field is required', async (t) => {
  const alice = await signUp(app);
  for (const threshold of [0, 101, -1, 50.5, '50', null]) {
    const answer = await set(alice, { ...ALERT, threshold });
    t.equal(answer.statusCode, 400, String(threshold));
    t.same(Object.keys(answer.json().details), ['threshold']);
  }
  t.same((await set(alice, {})).json(), {
    success: false,
    error: 'Validation error',
    details: { threshold: ['is required'], notifyEmail: ['is required'], notifyWebhook: ['is required'] },
  });
  t.same((await set(alice, { ...ALERT, resource: 'tokens' })).json().details, { resource: ['is not a known field'] });
});

t.test('Alerts need a session', async (t) => {
  await assertNeedsSession(t, app, { url: '/api/usage/alerts' });
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/usage/alerts', payload: ALERT });
  await assertNeedsSession(t, app, { method: 'DELETE', url: '/api/usage/alerts/1' });
});
