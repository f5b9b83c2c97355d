import { createMcpHandler, type McpHttpHandler, Server } from '@modelcontextprotocol/server';
import { callTool, prepareTool } from './call-tool.ts';
import { toClientSchema } from './client-schema.ts';
import type { ToolCall } from './tool.ts';
import { TOOLS } from './tools/index.ts';

const INSTRUCTIONS =
  'Carillon runs AI prompts on a schedule. Show the user the plan and the next runs in local time before you create a task.';

const tools = new Map(TOOLS.map((tool) => [tool.name, prepareTool(tool)]));
const list = TOOLS.map(({ name, title, description, input, output, hints }) => ({
  name,
  title,
  description,
  inputSchema: toClientSchema(input),
  outputSchema: toClientSchema(output, { isAnswer: true }),
  annotations: { title, ...hints },
}));

/** Serves one request. The protocol is stateless, so each request has a server of its own. */
export function createHandler(call: ToolCall): McpHttpHandler {
  return createMcpHandler(() => {
    const server = new Server(
      { name: 'carillon', title: 'Carillon', version: '0.1.0' },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: list }) as never);
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = tools.get(params.name);
      if (!tool)
        return { isError: true, content: [{ type: 'text' as const, text: `There is no tool ${params.name}.` }] };
      return callTool(tool, { ...call, tool: tool.name }, params.arguments);
    });
    return server;
  });
}
