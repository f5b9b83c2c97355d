import { compileValidator, type FieldErrors, findUnsafeValue } from '@carillon/contract';
import { AppError, ERROR_MESSAGES, fromDatabaseError, missingScope } from '../errors.ts';
import { userKey } from '../limits/keys.ts';
import { findRateLimit, type RateLimit } from '../limits/rates.ts';
import { assertRateLimit } from '../limits/windows.ts';
import type { Tool, ToolCall } from './tool.ts';

interface ToolResult {
  [key: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

type CheckedTool = Tool & { rate: RateLimit; check: (given: unknown) => never };

/** Compiles what a tool needs for each call. */
export function prepareTool(tool: Tool): CheckedTool {
  const [method = '', url = ''] = tool.as.split(' ');
  const rate = findRateLimit(method, url, 'user');
  if (!rate) throw new Error(`${tool.as} has no rate limit.`);
  const validate = compileValidator(tool.input, 'arguments');
  const check = (given: unknown) => {
    const unsafe = findUnsafeValue(given);
    if (unsafe) throw invalid({ [unsafe.field || 'arguments']: [unsafe.message] });
    const result = validate(given);
    if (!result.ok) throw invalid(result.details);
    return result.value as never;
  };
  return { ...tool, rate, check };
}

const invalid = (details: FieldErrors) => new AppError('invalid', ERROR_MESSAGES.invalid, details);

/** Returns errors as results, which the assistant can act on. */
export async function callTool(tool: CheckedTool, call: ToolCall, given: unknown): Promise<ToolResult> {
  const { ctx, caller } = call;
  try {
    if (!caller.apiKey?.scopes.includes(tool.scope)) throw missingScope(tool.scope);
    await assertRateLimit(ctx, tool.rate, userKey(tool.rate, caller.id));
    const { text, data } = await tool.run(call, tool.check(given ?? {}));
    return { content: [{ type: 'text', text }], structuredContent: toPlain(data) };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: describeError(error, ctx.log) }] };
  }
}

/** Instants become strings, as in the API. */
const toPlain = (data: Record<string, unknown>): Record<string, unknown> => JSON.parse(JSON.stringify(data));

function describeError(error: unknown, log: ToolCall['ctx']['log']): string {
  const known = error instanceof AppError ? error : fromDatabaseError(error);
  if (!known) {
    log.error({ err: error }, 'a tool failed');
    return ERROR_MESSAGES.internal;
  }
  if (known.kind !== 'invalid') return known.message;
  const fields = Object.entries((known.details ?? {}) as FieldErrors);
  return [known.message, ...fields.map(([field, problems]) => `- ${field}: ${problems.join('; ')}`)].join('\n');
}
