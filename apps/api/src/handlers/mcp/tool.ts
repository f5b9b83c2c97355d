import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { Static, TObject } from '@sinclair/typebox';
import type { Caller, Context } from '../../context.ts';

export interface ToolCall {
  ctx: Context;
  caller: Caller;
  /** The name of the client as it gives it, cut and in one line; null if it gives none. */
  client: string | null;
  /** The name of the tool. */
  tool: string;
  /** Aborted when the client hangs up: for tools that wait. */
  signal: AbortSignal;
}

export interface ToolAnswer {
  /** What the assistant reads. Texts of users and models in it are fenced. */
  text: string;
  /** The same for programs, by the output schema. */
  data: Record<string, unknown>;
}

interface ToolHints {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint: boolean;
}

/** A tool of the MCP server, which does what one route of the API does. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** What an API key needs. */
  scope: ApiKeyScope;
  /** The route that does the same, as `GET /api/tasks`: calls count towards its rate limit. */
  as: string;
  input: TObject;
  output: TObject;
  hints: ToolHints;
  /** `input` has been checked. Throws what the service functions throw. */
  run(call: ToolCall, input: never): Promise<ToolAnswer>;
}

/** Types the input of `run` by the schema. */
export const defineTool = <I extends TObject>(
  tool: Omit<Tool, 'input' | 'run'> & {
    input: I;
    run(call: ToolCall, input: Static<I>): Promise<ToolAnswer>;
  },
): Tool => tool;
