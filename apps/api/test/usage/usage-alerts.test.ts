import t from 'tap';
import { testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { assertNeedsSession, NO_IDS } from '../support/tasks.ts';

const { app } = await testContext(t);

const ALERT = { threshold: 80, notifyEmail: true, notifyWebhook: false };
const set = ({ headers }: Person, payload: object) =>
  app.inject({ method: 'POST', url: '/api/usage/alerts', headers, payload });
const list = async ({ headers }: Person) => (await app.inject({ url: '/api/usage/alerts', headers })).json();
const remove = ({ headers }: Person, id: unknown) =>
  app.inject({ method: 'DELETE', url: `/api/usage/alerts/${id}`, headers });

t.test('an alert is set and answered with its id', async (t) => {
  const alice = await signUp(app);
  const answer = await set(alice, ALERT);
  t.equal(answer.statusCode, 200);
  const { id } = answer.json().alert;
  t.type(id, 'number');
  t.same(answer.json(), { success: true, alert: { id, ...ALERT } });
});

t.test('there is one for each threshold: the same one again changes it', async (t) => {
  const alice = await signUp(app);
  const { id } = (await set(alice, ALERT)).json().alert;
  const changed = { threshold: 80, notifyEmail: false, notifyWebhook: true };
  t.same((await set(alice, changed)).json(), { success: true, alert: { id, ...changed } });
  t.same(await list(alice), { success: true, alerts: [{ id, ...changed }] });
});

t.test('an alert set by many at once is one', async (t) => {
  const alice = await signUp(app);
  const answers = await Promise.all(Array.from({ length: 20 }, () => set(alice, ALERT)));
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
  t.equal((await list(alice)).alerts.length, 1);
});

t.test('the list is in the order of the thresholds, and of the caller alone', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  for (const threshold of [90, 1, 100, 50]) await set(alice, { ...ALERT, threshold });
  t.same(
    (await list(alice)).alerts.map(({ threshold }: { threshold: number }) => threshold),
    [1, 50, 90, 100],
  );
  t.same(await list(bob), { success: true, alerts: [] });
});

t.test('a deleted alert is gone, and a second time not found', async (t) => {
  const alice = await signUp(app);
  const { id } = (await set(alice, ALERT)).json().alert;
  t.same((await remove(alice, id)).json(), { success: true, message: 'The alert is deleted.' });
  t.equal((await remove(alice, id)).statusCode, 404);
  t.same((await list(alice)).alerts, []);
});

t.test("a stranger's alert is not found, nor is one that cannot exist", async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const { id } = (await set(alice, ALERT)).json().alert;
  for (const wrong of [id, ...NO_IDS]) t.equal((await remove(bob, wrong)).statusCode, 404, String(wrong));
  t.equal((await list(alice)).alerts.length, 1);
});

t.test('a threshold is 1 to 100 percent, whole, and every field is needed', async (t) => {
  const alice = await signUp(app);
  for (const threshold of [0, 101, -1, 50.5, '50', null]) {
    const answer = await set(alice, { ...ALERT, threshold });
    t.equal(answer.statusCode, 400, String(threshold));
    t.same(Object.keys(answer.json().details), ['threshold']);
  }
  t.same((await set(alice, {})).json(), {
    success: false,
    error: 'Validation error',
    message: 'The request is not valid.',
    details: { threshold: ['is required'], notifyEmail: ['is required'], notifyWebhook: ['is required'] },
  });
  t.same((await set(alice, { ...ALERT, resource: 'tokens' })).json().details, { resource: ['is not a known field'] });
});

t.test('alerts are for those who are signed in', async (t) => {
  await assertNeedsSession(t, app, { url: '/api/usage/alerts' });
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/usage/alerts', payload: ALERT });
  await assertNeedsSession(t, app, { method: 'DELETE', url: '/api/usage/alerts/1' });
});
