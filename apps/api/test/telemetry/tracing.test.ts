import t from 'tap';
import { createWorker } from '../../src/entry/worker.ts';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { CRON_SECRET, testContext } from '../support/context.ts';
import { deliverDueMails as deliverMail } from '../support/mails.ts';
import { signUpAlice } from '../support/people.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { startMailServer } from '../support/servers/mail-server.ts';
import { startOtlpServer } from '../support/servers/otlp-server.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { postTask } from '../support/tasks.ts';
import { postWebhook } from '../support/webhooks.ts';

t.test('A task is traced from the scheduler tick that enqueued it to the delivery of its webhook', async (t) => {
  const otlp = await startOtlpServer(t);
  const ai = await startAiServer();
  t.teardown(() => ai.close());
  const mail = await startMailServer(t);
  const receiver = await startReceiver(t);
  const { app, ctx, clock } = await testContext(t, {
    env: { AI_BASE_URL: ai.url, SMTP_URL: mail.url, OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url },
  });
  const worker = createWorker(ctx, { graceMs: 0 });
  t.teardown(() => worker.stop());
  const alice = await signUpAlice(app);
  const webhook = await postWebhook(app, alice, { url: `${receiver.url}/hook`, events: ['execution.completed'] });
  const notificationEmail = 'alice@example.com';
  const taskId = await postTask(app, alice, {
    aiModel: 'maker/model-1',
    maxTokens: 321,
    temperature: 125,
    notificationEmail,
  });

  clock.set('2026-11-20T11:00:00.250Z');
  const asScheduler = { authorization: `Bearer ${CRON_SECRET}`, prefer: 'respond-async', 'x-request-id': 'the-tick' };
  await app.inject({ url: '/api/cron/scheduler', headers: asScheduler });
  await worker.drain();
  await createDeliverer(ctx).drain();
  await deliverMail(ctx);
  await ctx.trace.close();

  t.equal(mail.received.length, 1);
  t.equal(receiver.received.length, 1);
  const request = otlp.span('GET /api/cron/scheduler');
  const tick = otlp.span('scheduler tick');
  const execution = otlp.span('run execution');
  const call = otlp.span('chat maker/model-1');
  const delivery = otlp.span('deliver webhook');
  const sending = otlp.span('send mail');

  t.match(request, { kind: 'server', parentId: null, attributes: { 'carillon.request_id': 'the-tick' } });
  t.match(tick, { parentId: request.spanId, traceId: request.traceId });
  t.same(tick.attributes, {
    'carillon.tick.wait': false,
    'carillon.tick.queued': 1,
    'carillon.tick.refused': 0,
    'carillon.tick.rescued': 0,
  });
  t.match(execution, { kind: 'internal', parentId: null, links: [tick.spanId] });
  t.not(execution.traceId, tick.traceId, 'the execution has a trace of its own');
  const { 'carillon.execution.id': executionId, ...attributes } = execution.attributes;
  t.same(attributes, {
    'carillon.task.id': taskId,
    'carillon.attempt': 1,
    'carillon.trigger': 'schedule',
    'carillon.due_at': '2026-11-20T11:00:00.000Z',
    'carillon.lateness_ms': 250,
  });
  t.type(executionId, 'number');
  t.match(call, { kind: 'client', parentId: execution.spanId, traceId: execution.traceId });
  const { 'carillon.usage.cost_usd': cost, ...callAttributes } = call.attributes;
  t.same(callAttributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'maker/model-1',
    'gen_ai.request.max_tokens': 321,
    'gen_ai.request.temperature': 1.25,
    'gen_ai.response.model': 'maker/model-1',
    'gen_ai.usage.input_tokens': callAttributes['gen_ai.usage.input_tokens'],
    'gen_ai.usage.output_tokens': callAttributes['gen_ai.usage.output_tokens'],
    'carillon.usage.estimated': false,
    'carillon.provider': 'default',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(ai.url).port),
  });
  t.type(cost, 'number');
  t.match(delivery, { kind: 'client', parentId: null, links: [execution.spanId] });
  t.match(delivery.attributes, {
    'carillon.webhook.id': webhook.id,
    'carillon.event': 'execution.completed',
    'carillon.attempt': 1,
    'carillon.request_id': /^[0-9a-f-]{36}$/,
    'http.response.status_code': 200,
  });
  t.match(sending.attributes, { 'carillon.mail.kind': 'message', 'carillon.attempt': 1 });
  t.same(
    otlp.spans.filter(({ isFailed, events }) => isFailed || events > 0),
    [],
  );
  t.match(request.resource, { 'service.name': 'carillon' });
});

t.test('A manual run is linked to its request, and a failure is recorded by its code only', async (t) => {
  const otlp = await startOtlpServer(t);
  const ai = await startAiServer();
  t.teardown(() => ai.close());
  const receiver = await startReceiver(t);
  receiver.answer(500);
  const { app, ctx, logged } = await testContext(t, {
    env: { AI_BASE_URL: ai.url, OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_SERVICE_NAME: 'bells' },
  });
  const worker = createWorker(ctx, { graceMs: 0 });
  t.teardown(() => worker.stop());
  const alice = await signUpAlice(app);
  await postWebhook(app, alice, { url: receiver.url, events: ['execution.failed'] });
  const taskId = await postTask(app, alice, { prompt: 'A prompt that nobody else is to see.' });
  ai.answer(() => ({ status: 400, body: { error: { message: 'An answer that nobody else is to see.' } } }));
  const url = `/api/tasks/${taskId}/execute`;
  await app.inject({ method: 'POST', url, headers: alice.headers });
  await worker.drain();
  await createDeliverer(ctx).drain();
  await ctx.trace.close();

  const asked = otlp.span('POST /api/tasks/:id/execute');
  const execution = otlp.span('run execution');
  t.match(execution, { links: [asked.spanId], isFailed: true, message: '' });
  t.match(execution.attributes, { 'carillon.trigger': 'manual', 'error.type': 'INVALID_REQUEST' });
  const call = otlp.spans.find(({ name }) => name.startsWith('chat '));
  t.match(call, { isFailed: true, message: '', events: 0, attributes: { 'error.type': 'INVALID_REQUEST' } });
  t.match(otlp.span('deliver webhook'), {
    links: [execution.spanId],
    isFailed: true,
    attributes: { 'http.response.status_code': 500, 'error.type': '500' },
  });
  t.match(asked.resource, { 'service.name': 'bells' });
  t.notMatch(Buffer.concat(otlp.requests.map(({ body }) => body)).toString('latin1'), /nobody else/);
  t.equal(
    logged.find(({ msg, route }) => msg === 'request' && route === url.replace(`${taskId}`, ':id'))?.traceId,
    asked.traceId,
  );
});

t.test('Providers and receivers are sent no trace headers', async (t) => {
  const otlp = await startOtlpServer(t);
  const ai = await startAiServer();
  t.teardown(() => ai.close());
  const receiver = await startReceiver(t);
  const { app, ctx } = await testContext(t, {
    env: { AI_BASE_URL: ai.url, OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url },
  });
  const worker = createWorker(ctx, { graceMs: 0 });
  t.teardown(() => worker.stop());
  const alice = await signUpAlice(app);
  const { id } = await postWebhook(app, alice, { url: receiver.url, events: ['execution.completed'] });
  const taskId = await postTask(app, alice);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { ...alice.headers, traceparent };
  await app.inject({ method: 'POST', url: `/api/webhooks/${id}/test`, headers });
  await app.inject({ method: 'POST', url: `/api/tasks/${taskId}/execute`, headers });
  await app.inject({ method: 'POST', url: '/api/agent/process', headers, payload: { message: 'Hello' } });
  await worker.drain();
  await createDeliverer(ctx).drain();
  await ctx.trace.close();

  t.equal(ai.requests.length, 2);
  t.equal(receiver.received.length, 2);
  for (const { headers } of [...ai.requests, ...receiver.received]) {
    t.same(
      Object.keys(headers).filter((name) => /trace|baggage|b3/i.test(name)),
      [],
    );
  }
  const processed = otlp.span('POST /api/agent/process');
  const calls = otlp.spans.filter(({ name }) => name.startsWith('chat '));
  t.ok(
    calls.some(({ parentId }) => parentId === processed.spanId),
    'an agent mode call belongs to the trace of its request',
  );
});
