import t from 'tap';
import { type Document, listEndpoints } from '../../../src/handlers/openapi/document.ts';
import { testContext } from '../../support/context.ts';

const { app } = await testContext(t);
const document: Document = (await app.inject('/openapi.json')).json();
const endpoints = listEndpoints(document);

const READS = ['getChannel', 'getTask', 'getUser', 'getUserSettings', 'getWebhook', 'readFeed'];
const CHANGES = [
  ...['changeChannel', 'changeTask', 'changeUserSettings', 'changeWebhook'],
  ...['patchUser', 'restoreVersion', 'skipNextRun'],
];
const DELETIONS = ['deleteChannel', 'deleteTask', 'deleteUser', 'deleteWebhook'];

const idsWhere = (test: (endpoint: (typeof endpoints)[number]) => unknown) =>
  endpoints
    .filter(test)
    .map(({ operation }) => operation.operationId)
    .sort();

t.test('The document has the headers, 304 and 412 on exactly the operations that have them', (t) => {
  const takes = (name: string) => idsWhere(({ operation }) => operation.parameters?.some((one) => one.name === name));
  const answers = (status: string) => idsWhere(({ operation }) => operation.responses?.[status]);
  const hasETag = (status: string) => idsWhere(({ operation }) => operation.responses?.[status]?.headers?.ETag);
  t.same(takes('if-none-match'), READS);
  t.same(answers('304'), READS);
  t.same(hasETag('304'), READS);
  t.same(takes('if-match'), [...CHANGES, ...DELETIONS].sort());
  t.same(answers('412'), [...CHANGES, ...DELETIONS].sort());
  t.same(hasETag('200'), [...CHANGES, ...READS].sort());
  for (const { operation } of endpoints) t.notOk(operation.responses?.['304']?.content, 'no body');
  t.end();
});

t.test('The document has the body of a 412', (t) => {
  const response = document.components?.responses?.PreconditionFailed;
  t.match(response, {
    content: { 'application/json': { example: { error: 'Precondition failed' } } },
  });
  t.end();
});
