import { runScheduler, type SchedulerOptions } from '@carillon/scheduler/loop';
import t, { type Test } from 'tap';
import { answer, api, memoryLog, until } from './api.ts';

const HOUR_MS = 3_600_000;

function run(t: Test, apiUrl: string, options: Partial<SchedulerOptions> = {}) {
  const scheduler = runScheduler({
    apiUrl,
    cronSecret: 's3cret',
    intervalMs: HOUR_MS,
    log: memoryLog().log,
    ...options,
  });
  t.teardown(scheduler.stop);
  return scheduler;
}

t.test('it wakes at the instant that the API names, and never before it', async (t) => {
  const dues: number[] = [];
  const { url, calls } = await api(t, (_request, response, call) => {
    const due = Date.now() + 20 + call * 7;
    dues.push(due);
    answer(response, due);
  });
  run(t, url);
  await until(() => calls.length > 12);
  const late = calls.slice(1).map((call, index) => call - (dues[index] as number));
  t.ok(Math.min(...late) >= 0, `earliest ${Math.min(...late)} ms`);
  t.ok((late.sort((a, b) => a - b)[6] as number) < 50, `late by ${late.join(', ')} ms`);
});

t.test('it calls at the interval when nothing falls due sooner', async (t) => {
  const { url, calls } = await api(t, (_request, response, call) =>
    answer(response, call % 2 ? null : Date.now() + HOUR_MS),
  );
  run(t, url, { intervalMs: 20 });
  await until(() => calls.length > 5);
  t.ok((calls[5] as number) - (calls[0] as number) >= 95);
});

t.test('what stays due, as in maintenance, does not make it spin', async (t) => {
  const past = Date.now() - 1000;
  const { url, calls } = await api(t, (_request, response) => answer(response, past));
  run(t, url, { intervalMs: 50 });
  await until(() => calls.length > 3);
  t.ok((calls[3] as number) - (calls[0] as number) >= 145);
});

t.test('each call carries the secret and does not wait for what runs', async (t) => {
  const { url, calls } = await api(t, (request, response) => {
    t.equal(request.method, 'GET');
    t.equal(request.url, '/api/cron/scheduler');
    t.match(request.headers, { authorization: 'Bearer s3cret', prefer: 'respond-async' });
    answer(response, null);
  });
  run(t, url);
  await until(() => calls.length > 0);
});

t.test('all calls share one connection', async (t) => {
  const ports = new Set<number | undefined>();
  const { url, calls } = await api(t, (request, response) => {
    ports.add(request.socket.remotePort);
    answer(response, null);
  });
  run(t, url, { intervalMs: 10 });
  await until(() => calls.length > 5);
  t.equal(ports.size, 1);
});

t.test('it goes on after every kind of failure, and logs each once', async (t) => {
  const { log, messages } = memoryLog();
  const { url, calls } = await api(t, (request, response, call) => {
    if (call <= 2) response.writeHead(500).end('{}');
    else if (call <= 4) response.end('no JSON');
    else if (call === 5) request.socket.destroy();
    else if (call === 7) response.writeHead(401).end('{}');
    else if (call !== 6) answer(response, null);
  });
  run(t, url, { intervalMs: 10, deadlineMs: 200, log });
  await until(() => calls.length > 9);
  const why = messages.map((message) => /: (.*)\. It goes on/.exec(message)?.[1] ?? 'well');
  t.match(why, [
    'it answered 500',
    'it did not answer with JSON',
    /.+/,
    'it has not answered within 200 ms',
    'its CRON_SECRET is another one',
    'well',
  ]);
  t.equal(why.length, 6);
});

t.test('it waits for an API that is not there yet', async (t) => {
  const { log, messages } = memoryLog();
  run(t, 'http://127.0.0.1:9', { intervalMs: 10, log });
  await until(() => messages.length > 0);
  t.match(messages, [/cannot trigger http:\/\/127.0.0.1:9: .*ECONNREFUSED/]);
});

t.test('it stops at once while it waits', async (t) => {
  const { url, calls } = await api(t, (_request, response) => answer(response, null));
  const scheduler = run(t, url);
  await until(() => calls.length > 0);
  await scheduler.stop();
  await scheduler.stop();
  t.equal(calls.length, 1);
});

t.test('it stops at once in the middle of a call', async (t) => {
  const { log, messages } = memoryLog();
  const { url, calls } = await api(t, () => {});
  const scheduler = run(t, url, { log });
  await until(() => calls.length > 0);
  await scheduler.stop();
  t.strictSame(messages, []);
});
