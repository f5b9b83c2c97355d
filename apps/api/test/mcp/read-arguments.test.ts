import t from 'tap';
import { testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { connect, connectEarlier } from '../support/mcp.ts';
import { signUp } from '../support/people.ts';
import { readTask } from '../support/tasks.ts';

const { app } = await testContext(t);
const url = new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 }));
const alice = await signUp(app);
const { headers } = await createKey(app, alice);

const NEW = {
  scheduledFor: '2027-01-01T17:00',
  recurrence: 'weekly',
  timezone: 'Europe/Lisbon',
  name: 'Prices',
  prompt: 'Compare these two prices.',
};

for (const open of [connect, connectEarlier]) {
  const client = await open(url, headers);
  t.teardown(() => client.close());
  const tell = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
  const create = async (given: Record<string, unknown>) => {
    const answer = await tell('create_task', { ...NEW, ...given });
    if (answer.isError) throw new Error(JSON.stringify(answer));
    const { taskId } = answer.structuredContent as { taskId: number };
    const task = await readTask(app, alice, taskId);
    await tell('delete_task', { taskId: `${taskId}` });
    return task;
  };

  t.test('Values of other types than text are read from their text, at any depth', async (t) => {
    const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
    const task = await create({
      maxTokens: '63',
      temperature: ' 100 ',
      monthlyBudgetUsd: '1.5',
      context: '{"clock":false,"previousResult":"True"}',
      alerts: { failuresInRow: '2', costAboveUsd: '1e-1' },
      watch: '["price"]',
      maxRetries: '2.0',
      outputSchema: JSON.stringify(schema),
      maxRuns: 'null',
    });
    t.match(task, {
      maxTokens: 63,
      temperature: 100,
      monthlyBudgetUsd: 1.5,
      context: { clock: false, previousResult: true },
      alerts: { failuresInRow: 2, costAboveUsd: 0.1 },
      watch: ['price'],
      maxRetries: 2,
      outputSchema: schema,
      maxRuns: null,
    });
  });

  t.test('Null is an optional argument that is left out, unless it says something', async (t) => {
    const task = await create({
      maxTokens: null,
      status: null,
      channels: null,
      requestId: null,
      endsAt: null,
      context: { clock: null },
    });
    t.match(task, { maxTokens: 1024, status: 'active', channels: [], endsAt: null, context: { clock: true } });
    t.match(await tell('list_runs', { taskId: null, limit: '5', cursor: null }), { structuredContent: { runs: [] } });
  });

  t.test('Text stays text, whatever it looks like', async (t) => {
    const task = await create({ name: '12345', prompt: '["a", "list", "in JSON"]', description: 'null' });
    t.match(task, { name: '12345', prompt: '["a", "list", "in JSON"]', description: 'null' });
  });

  t.test('What is no value of the type is refused by its field', async (t) => {
    const wrong: [field: string, ...values: unknown[]][] = [
      ['maxTokens', '12abc', '', ' ', '0x1f', '1.5', '[5]', 'true', '"5"', '1e400', 'NaN', '01', '5 6', 'null', true],
      ['monthlyBudgetUsd', '1,5', '$3', 'Infinity'],
      ['context', '{"clock":true', '[]', 'true', '{"clock":"yes"}', '{"__proto__":{"clock":true}}', 'null'],
      ['tools', 'web_search', '{"0":"web_search"}', '["web_search"'],
      ['outputSchema', '{"a":"\\u0000"}', '{"__proto__":{}}', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
      ['name', 12345, null],
      ['prompt', { text: 'An object is no text.' }],
    ];
    for (const [field, ...values] of wrong) {
      for (const value of values) {
        const answer = await tell('create_task', { ...NEW, [field]: value });
        t.match(answer, { isError: true, content: [{ text: new RegExp(`\\n- ${field}`) }] }, JSON.stringify(value));
      }
    }
    t.match(await tell('get_task', { taskId: '12abc' }), { isError: true, content: [{ text: /- taskId/ }] });
    t.match(await tell('get_task', { taskId: null }), { isError: true, content: [{ text: /- taskId/ }] });
  });
}
