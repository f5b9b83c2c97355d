import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { signUp } from '../support/people.ts';

const { app } = await testContext(t);
const url = new URL('/mcp', await app.listen({ port: 0 }));
const { headers } = await createKey(app, await signUp(app));

t.test('The clients of both protocol eras list and call tools', async (t) => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  t.match(await client.listTools(), { tools: [{ name: 'preview_schedule' }] });
  const schedule = { scheduledFor: '2027-01-01T17:00:00Z', recurrence: 'weekly', timezone: 'Europe/Lisbon' };
  t.match(await client.callTool({ name: 'preview_schedule', arguments: schedule }), { content: [{ type: 'text' }] });
  await client.close();

  const earlier = new EarlierClient({ name: 'test', version: '1.0.0' });
  await earlier.connect(new EarlierTransport(url, { requestInit: { headers } }) as never);
  t.match(await earlier.listTools(), { tools: [{ name: 'preview_schedule' }] });
  t.match(await earlier.callTool({ name: 'preview_schedule', arguments: schedule }), { content: [{ type: 'text' }] });
  await earlier.close();
});
