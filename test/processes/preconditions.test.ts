import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { endpoints, tasks, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { startApiProcess } from './api-process.ts';
import { JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';

const RACERS = 50;

t.test('Of 50 changes with one ETag at once over two processes, one succeeds and 49 are 412', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer();
  t.teardown(ai.close);
  const settings = { databaseUrl, aiUrl: ai.url, env: { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '1000' } };
  const [one, two] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  const [userId] = await insertPeople(db, 1);
  const [token] = await signInAll(db, [userId!]);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  const create = async (path: string, body: object) => {
    const answer = await fetch(`${one.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    t.equal(answer.status, 201);
    return (await answer.json()) as { taskId: number; webhook: { id: string } };
  };
  const schedule = {
    scheduledFor: new Date(Date.now() + 3_600_000).toISOString(),
    recurrence: 'daily',
    timezone: 'UTC',
  };
  const { taskId } = await create('/api/agent/create-task', { name: 'Race', prompt: 'Say something.', ...schedule });
  const { webhook } = await create('/api/webhooks', {
    url: 'https://hooks.example.com/race',
    events: ['task.updated'],
  });

  const race = async (path: string, toRequest: (i: number) => { method: string; body?: string }) => {
    const read = await fetch(`${one.url}${path}`, { headers });
    const etag = String(read.headers.get('etag'));
    const answers = await Promise.all(
      Array.from({ length: RACERS }, async (_, i) => {
        const { url } = i % 2 ? one : two;
        const init = { ...toRequest(i), headers: { ...headers, 'if-match': etag } };
        const answer = await fetch(`${url}${path}`, init);
        return { i, status: answer.status, body: await answer.text() };
      }),
    );
    const winners = answers.filter(({ status }) => status === 200);
    const losers = answers.filter(({ status }) => status === 412);
    return { winners, losers, answers };
  };
  const isName = (i: number) => ({ method: 'PATCH', body: JSON.stringify({ name: `Racer ${i}` }) });
  const isDescription = (i: number) => ({ method: 'PATCH', body: JSON.stringify({ description: `Racer ${i}` }) });

  const ofTask = await race(`/api/tasks/${taskId}`, isName);
  t.same([ofTask.winners.length, ofTask.losers.length], [1, RACERS - 1], 'task');
  const [task] = await db.select().from(tasks).where(eq(tasks.id, taskId));
  t.equal(task?.name, `Racer ${ofTask.winners[0]?.i}`, 'the change of the winner alone is stored');
  t.equal(task?.revision, 2);

  const present = String((await fetch(`${one.url}/api/tasks/${taskId}`, { headers })).headers.get('etag'));
  const tries: [ifMatch: string[], status: number][] = [
    [['"x"', present], 200],
    [['"x"', `W/${present}`], 412],
    [['*', '"x"'], 400],
    [[Array.from({ length: 10_000 }, (_, i) => `"${i}"`).join(',')], 431],
  ];
  for (const [ifMatch, status] of tries) {
    const sent = request(`${one.url}/api/tasks/${taskId}`, { method: 'PATCH', headers });
    sent.setHeader('if-match', ifMatch).end('{}');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    t.equal(answer.statusCode, status, `\`If-Match\` several times, or very long: ${String(ifMatch).slice(0, 60)}`);
  }

  const ofWebhook = await race(`/api/webhooks/${webhook.id}`, isDescription);
  t.same([ofWebhook.winners.length, ofWebhook.losers.length], [1, RACERS - 1], 'webhook');
  const [hook] = await db.select().from(endpoints).where(eq(endpoints.id, webhook.id));
  t.match(hook, { description: `Racer ${ofWebhook.winners[0]?.i}`, revision: 2 });

  const ofUser = await race('/api/user', isName);
  t.same([ofUser.winners.length, ofUser.losers.length], [1, RACERS - 1], 'user');
  const ofSettings = await race('/api/user/settings', (i) => ({
    method: 'PATCH',
    body: JSON.stringify({ notificationPreferences: { email: i % 2 === 0 } }),
  }));
  t.same([ofSettings.winners.length, ofSettings.losers.length], [1, RACERS - 1], 'settings');
  const [user] = await db.select().from(users).where(eq(users.id, userId!));
  t.match(user, { name: `Racer ${ofUser.winners[0]?.i}`, notifyEmail: Number(ofSettings.winners[0]?.i) % 2 === 0 });

  // A change to the name that the task has already would leave its ETag as it is.
  const isOtherName = (i: number) => ({ method: 'PATCH', body: JSON.stringify({ name: `Late racer ${i}` }) });
  const mixed = await race(`/api/tasks/${taskId}`, (i) => (i % 5 ? isOtherName(i) : { method: 'DELETE', body: '{}' }));
  t.equal(mixed.winners.length, 1, 'changes and deletions');
  const isDeleted = Number(mixed.winners[0]?.i) % 5 === 0;
  const lost = mixed.answers.filter(({ status }) => status !== 200).map(({ status }) => status);
  t.ok(
    lost.every((status) => status === 412 || (isDeleted && status === 404)),
    `the others are 412, or 404: ${lost}`,
  );
  t.equal(await db.$count(tasks, eq(tasks.id, taskId)), isDeleted ? 0 : 1);
});
