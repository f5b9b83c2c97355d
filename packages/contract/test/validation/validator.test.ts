import { createApiKey } from '@carillon/contract/accounts/api-keys';
import { register } from '@carillon/contract/accounts/auth';
import { patchUser } from '@carillon/contract/accounts/users';
import { createChannel } from '@carillon/contract/channels/channels';
import { listExecutions } from '@carillon/contract/executions';
import { changeTask, createTask, listTasks } from '@carillon/contract/tasks';
import { compileQueryValidator, compileValidator } from '@carillon/contract/validation/validator';
import { Type } from '@sinclair/typebox';
import t from 'tap';

const TASK = {
  name: 'Morning news',
  prompt: 'Sum up the news of today.',
  scheduledFor: '2026-11-21T07:00:00Z',
  recurrence: 'daily',
  timezone: 'Europe/Lisbon',
};
const task = compileValidator(createTask.body);
const change = compileValidator(changeTask.body);

const fieldErrors = (checked: ReturnType<typeof task | typeof change>) => (checked.ok ? {} : checked.details);

t.test('a valid body passes unchanged', async (t) => {
  t.same(task(TASK), { ok: true, value: TASK });
  const full = { ...TASK, description: null, recurrencePattern: '0 7 * * 1-5', aiModel: 'openai/gpt-5-mini' };
  t.same(task({ ...full, maxTokens: 1, temperature: 0, attachments: [] }).ok, true);
  t.same(change({}), { ok: true, value: {} });
});

t.test('A temperature that is not an integer is explained by its unit', async (t) => {
  for (const temperature of [0.7, '0.7', null]) {
    const details = { temperature: ['must be an integer: 70 stands for 0.70'] };
    t.same(fieldErrors(task({ ...TASK, temperature })), details);
    t.same(fieldErrors(change({ temperature })), details);
  }
  t.same(fieldErrors(task({ ...TASK, temperature: 201 })), { temperature: ['must be at most 200'] });
});

t.test('every invalid field has a message', async (t) => {
  const body = { ...TASK, name: 'ab', prompt: 'too short', recurrence: 'hourly', attachments: ['x', 7], role: 'ADMIN' };
  t.same(fieldErrors(task({ ...body, timezone: undefined })), {
    name: ['must be at least 3 characters'],
    prompt: ['must be at least 10 characters'],
    recurrence: ['must be one of once, daily, weekly, monthly'],
    attachments: ['item 2 must be a string'],
    role: ['is not a known field'],
    timezone: ['is required'],
  });
  t.same(fieldErrors(task({ ...TASK, attachments: Array(11).fill('x') })), {
    attachments: ['must have at most 10 items'],
  });
  t.same(fieldErrors(task({ ...TASK, temperature: 201, maxTokens: 0 })), {
    temperature: ['must be at most 200'],
    maxTokens: ['must be at least 1'],
  });
  t.same(fieldErrors(task({ ...TASK, prompt: ' '.repeat(20) })), { prompt: ['must not be blank'] });
});

t.test('a body that is not an object fails as a whole', async (t) => {
  for (const body of [null, undefined, [], 'text', 7, true])
    t.same(fieldErrors(task(body)), { body: ['must be an object'] });
});

t.test('names are trimmed before their length is checked', async (t) => {
  t.match(task({ ...TASK, name: ' \t Morning news\n' }), { ok: true, value: { name: 'Morning news' } });
  t.match(task({ ...TASK, name: ` ${'n'.repeat(100)} ` }), { ok: true, value: { name: 'n'.repeat(100) } });
  t.same(fieldErrors(task({ ...TASK, name: ' ab ' })), { name: ['must be at least 3 characters'] });
  t.match(compileValidator(patchUser.body)({ name: ' Al ' }), { ok: true, value: { name: 'Al' } });
  for (const schema of [createChannel.body, createApiKey.body]) {
    t.match(compileValidator(schema)({ name: ' \n' }), { ok: false, details: { name: ['must not be empty'] } });
  }
});

t.test('errors of items are reported under the name of their list', async (t) => {
  const sources = compileValidator(Type.Object({ list: Type.Array(Type.Object({ of: Type.Array(Type.Integer()) })) }));
  t.match(sources({ list: [{ of: [] }, { of: [1, 'x'] }, {}] }), {
    ok: false,
    details: { list: ['item 2 of.1 must be an integer', 'item 3 of is required'] },
  });
  t.match(compileValidator(Type.Array(Type.Integer()), 'ids')(['x']), {
    ok: false,
    details: { ids: ['item 1 must be an integer'] },
  });
  t.match(task({ ...TASK, context: { 0: 'x' } }), { ok: false, details: { 'context.0': ['is not a known field'] } });
});

t.test('a body is neither coerced, defaulted nor reduced to known fields', async (t) => {
  const body = { ...TASK, maxTokens: '5', temperature: null, description: 7, name: true };
  t.same(fieldErrors(task(body)), {
    maxTokens: ['must be an integer'],
    temperature: ['must be an integer: 70 stands for 0.70'],
    description: ['must be a string or null'],
    name: ['must be a string'],
  });
  t.same(body, { ...TASK, maxTokens: '5', temperature: null, description: 7, name: true });
  const patch = compileValidator(patchUser.body);
  t.equal(patch({ timezone: null, encryptedProviderKey: null }).ok, true);
  t.equal(patch({ name: null }).ok, false);
  t.equal(patch({ role: 'ADMIN' }).ok, false);
});

t.test('lengths count code points', async (t) => {
  t.equal(task({ ...TASK, name: '😀😀' }).ok, false, 'two emoji are two characters, not four');
  t.equal(task({ ...TASK, name: '😀'.repeat(100) }).ok, true);
  t.equal(task({ ...TASK, name: '😀'.repeat(101) }).ok, false);
});

t.test('fields named like prototype members are unknown fields', async (t) => {
  const hostile = JSON.parse('{"constructor": 1, "toString": 2, "hasOwnProperty": 3}');
  t.same(Object.keys(fieldErrors(task({ ...TASK, ...hostile }))).sort(), ['constructor', 'hasOwnProperty', 'toString']);
  const own = JSON.parse(`{"__proto__": {"name": "x"}, ${JSON.stringify(TASK).slice(1)}`);
  t.ok(Object.hasOwn(fieldErrors(task(own)), '__proto__'));
});

t.test('an invalid password has a message for each violated rule', async (t) => {
  const check = compileValidator(register.body);
  const passwordOf = (password: unknown) => {
    const checked = check({ name: 'Alice', email: 'alice@example.org', password });
    return checked.ok ? [] : checked.details.password;
  };
  t.same(passwordOf('Abcdefg1'), []);
  t.same(passwordOf('Ǆß345678ÅÉé'), [], 'letters of every script count');
  t.same(passwordOf('abcdefg1'), ['must contain an upper-case letter']);
  t.same(passwordOf('ABCDEFG1'), ['must contain a lower-case letter']);
  t.same(passwordOf('Abcdefgh'), ['must contain a digit']);
  t.same(passwordOf('Ab1'), ['must be at least 8 characters']);
  t.same(passwordOf(`Ab1${'x'.repeat(126)}`), ['must be at most 128 characters']);
  for (const order of ['Ab1', 'A1b', 'bA1', 'b1A', '1Ab', '1bA']) {
    const spread = [...order].join('\n%%%');
    t.same(passwordOf(spread), [], order);
    for (const [character, message] of [
      ['A', 'must contain an upper-case letter'],
      ['b', 'must contain a lower-case letter'],
      ['1', 'must contain a digit'],
    ] as const) {
      t.same(passwordOf(spread.replace(character, '%')), [message], `${order} without ${character}`);
    }
  }
  t.same(passwordOf('%%%'), [
    'must be at least 8 characters',
    'must contain an upper-case letter',
    'must contain a lower-case letter',
    'must contain a digit',
  ]);
  const start = performance.now();
  for (const text of ['A', 'Ab', 'A%b%']) passwordOf(text.repeat(250_000));
  t.ok(performance.now() - start < 1000, 'linear time');
});

t.test('query parameters are parsed and defaulted, and unknown ones dropped', async (t) => {
  const query = compileQueryValidator(listExecutions.querystring);
  t.same(query({}), { ok: true, value: { limit: 20, offset: 0 } });
  t.same(query({ taskId: '7', limit: '100', utm_source: 'mail' }), {
    ok: true,
    value: { taskId: 7, limit: 100, offset: 0 },
  });
  for (const limit of ['0', '-1', '1.5', '1e1', '0x10', '010', ' 7', '+7', '', 'ten', ['1', '2']]) {
    const checked = query({ limit });
    t.match(checked, { ok: false, details: { limit: [String] } }, JSON.stringify(limit));
  }
  for (const limit of ['101', '100000', '99999999999999999999']) {
    t.match(query({ limit }), { ok: true, value: { limit: 100 } }, 'a limit above the maximum is cut');
  }
  t.match(query({ offset: '99999999999999999999' }), { ok: false, details: { offset: [String] } });
  t.match(query({ status: 'done', cursor: 'a b' }), {
    ok: false,
    details: { status: [/^must be one of/], cursor: [String] },
  });
  t.match(compileQueryValidator(listTasks.querystring)({ search: '7' }), { ok: true, value: { search: '7' } });
});

t.test('the query object is not modified', async (t) => {
  const given = { limit: '5', other: 'x' };
  compileQueryValidator(listTasks.querystring)(given);
  t.same(given, { limit: '5', other: 'x' });
});
