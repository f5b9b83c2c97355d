import { compileValidator, findUnsafeValue } from '@carillon/contract';
import { AppError, ERROR_MESSAGES } from '../../errors.ts';
import { findRateLimit, type RateLimit, userKey } from '../../platform/limits/rates.ts';
import { assertRateLimit } from '../../platform/limits/windows.ts';
import { authorize } from '../../product/auth/authorize.ts';
import { readArguments } from './arguments/read-arguments.ts';
import type { Tool, ToolCall } from './tool.ts';
import { describeToolError, ERROR_META } from './tool-errors.ts';

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
    const read = readArguments(tool.input, given);
    const unsafe = findUnsafeValue(given) ?? findUnsafeValue(read);
    if (unsafe) throw invalid({ [unsafe.field || 'arguments']: [unsafe.message] });
    const result = validate(read);
    if (!result.ok) throw invalid(result.details);
    return result.value as never;
  };
  return { ...tool, rate, check };
}

const invalid = (details: Record<string, string[]>) => new AppError('invalid', ERROR_MESSAGES.invalid, details);

/** Returns errors as results, which the assistant can act on, and `ok` or the code of the error as `outcome`. */
export async function callTool(
  tool: CheckedTool,
  call: ToolCall,
  given: unknown,
): Promise<{ outcome: string; result: ToolResult }> {
  try {
    const { rate, scope, as } = tool;
    const { ctx, caller } = call;
    authorize({ caller, maintenance: false, isFactorMissing: false }, { access: 'user', scope });
    await assertRateLimit(ctx, rate, userKey(rate, caller.id), { userId: caller.id, endpoint: as });
    const { text, data } = await tool.run(call, tool.check(given ?? {}));
    return { outcome: 'ok', result: { content: [{ type: 'text', text }], structuredContent: toPlain(data) } };
  } catch (error) {
    const { code, text, meta } = describeToolError(error, tool, call);
    const result: ToolResult = { isError: true, content: [{ type: 'text', text }], _meta: { [ERROR_META]: meta } };
    return { outcome: code, result };
  }
}

/** Instants become strings, as in the API. */
const toPlain = (data: Record<string, unknown>): Record<string, unknown> => JSON.parse(JSON.stringify(data));
