import type { Carillon } from '@carillon/client/source';
import type { Texts } from '@carillon/texts';
import { DEMO_COMPARISON, DEMO_PAGES } from './ai-provider.ts';
import { assert, printLine as say, printStep as step } from './print.ts';
import { startReceiver } from './receiver.ts';

const VERSION = '2026-07-28';

/** The body of a message in Slack. */
interface SlackMessage {
  text: string;
  blocks: unknown[];
}

/** What an assistant does that speaks the Model Context Protocol: it plans a task that reads the web and answers in a chat. */
export async function useAssistant(
  carillon: Carillon,
  url: string,
  cleanUp: AsyncDisposableStack,
  demo: Texts['demo'],
): Promise<void> {
  step(6, demo.assistant);
  const { key, secret } = await carillon.keys.create({
    name: 'Assistant',
    scopes: ['tasks:read', 'tasks:write', 'executions:read', 'executions:run', 'webhooks:read', 'usage:read'],
  });
  cleanUp.defer(async () => {
    await carillon.keys.delete(key.id).catch(() => {});
  });
  say(`claude mcp add --transport http carillon ${url}/mcp \\`);
  say(`  --header "Authorization: Bearer ${secret}"`);
  const slack = await startReceiver<SlackMessage>(demo);
  cleanUp.defer(slack.close);
  await carillon.channels.create({ kind: 'slack', name: 'Shopping', url: slack.url });

  const [channel] = (await call('list_channels')).channels;
  say(`list_channels: ${channel.kind} “${channel.name}”`);
  const { taskId, nextRuns } = await call('create_task', {
    name: 'Two shops',
    prompt: `Compare the price of the kettle at ${DEMO_PAGES.join(' and ')}.`,
    tools: ['web_fetch'],
    channels: [channel.id],
    scheduledFor: '2099-01-02T17:00',
    recurrence: 'weekly',
    timezone: 'Europe/Berlin',
  });
  cleanUp.defer(async () => {
    await carillon.tasks.delete(taskId).catch(() => {});
  });
  say(`create_task: ${demo.firstRun(taskId, nextRuns[0].local)}`);
  const { runId } = await call('run_task', { taskId });
  const message = await slack.waitFor(demo.slackMessage, (one): one is SlackMessage => one.text.includes('shops'));
  const { run } = await call('get_run', { runId });
  say(`get_run: “${run.result}”`);
  for (const citation of run.citations) say(demo.source(citation.url));
  assert(run.result === DEMO_COMPARISON && run.toolUses === 2, demo.noWebTools);
  const shown = JSON.stringify(message.blocks);
  say(demo.slackGot(message.text, DEMO_PAGES.filter((page) => shown.includes(page)).length));
  assert(
    DEMO_PAGES.every((page) => shown.includes(page)),
    demo.noSources,
  );

  // biome-ignore lint/suspicious/noExplicitAny: the answers of several tools
  async function call(name: string, given: object = {}): Promise<any> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'demo', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': VERSION,
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta } }),
    });
    const { result } = (await response.json()) as {
      result?: { isError?: boolean; content: { text: string }[]; structuredContent: unknown };
    };
    assert(result && !result.isError, demo.toolFailed(name, String(result?.content[0]?.text ?? response.status)));
    return result.structuredContent;
  }
}
