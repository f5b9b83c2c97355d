import { ERROR_CODES, type FieldErrors } from '@carillon/contract';
import { AppError, ERROR_KINDS, ERROR_MESSAGES, fromDatabaseError } from '../../errors.ts';
import type { Tool, ToolCall } from './tool.ts';

/** Of an error result. Not `structuredContent`: earlier clients check that against the output schema. */
export const ERROR_META = 'carillon/error';

interface ToolError {
  /** The `code` of the same error in the API. */
  code: string;
  /** What the assistant reads: what failed, why, and what to do. */
  text: string;
  /** For programs. */
  meta: { code: string; status: number; message: string; details?: Record<string, unknown> };
}

const MAX_FIELDS = 20;

/** Logs an error that is a bug. */
export function describeToolError(error: unknown, tool: Pick<Tool, 'name'>, { ctx }: Pick<ToolCall, 'ctx'>): ToolError {
  const known = error instanceof AppError ? error : fromDatabaseError(error);
  if (!known) ctx.log.error({ err: error, tool: tool.name }, 'a tool failed');
  const code = known ? ERROR_KINDS[known.kind].code : 'INTERNAL_ERROR';
  const message = known?.message ?? ERROR_MESSAGES.internal;
  const { details } = known ?? {};
  const lines = [message, ...listFields(known), advise(known, tool.name, ctx)];
  return {
    code,
    text: lines.filter((line) => line !== '').join('\n'),
    meta: { code, status: ERROR_CODES[code].status, message, ...(details && { details }) },
  };
}

function listFields(error: AppError | null): string[] {
  if (error?.kind !== 'invalid') return [];
  const fields = Object.entries((error.details ?? {}) as FieldErrors);
  const lines = fields.slice(0, MAX_FIELDS).map(([field, problems]) => `- ${field}: ${problems.join('; ')}`);
  return fields.length > MAX_FIELDS ? [...lines, `- and ${fields.length - MAX_FIELDS} more fields`] : lines;
}

/** What to do next; empty where the message says it. */
function advise(error: AppError | null, tool: string, { config, requestId }: ToolCall['ctx']): string {
  switch (error?.kind) {
    case undefined:
      return `Check whether it was carried out before you repeat it. The log of the service has it under the request id ${requestId}.`;
    case 'invalid':
      return `Nothing was changed. Correct this and call ${tool} again.`;
    case 'missing_scope':
      return `Ask the user to create a key with this scope at ${config.appUrl}/settings/keys, and to give it to this client.`;
    case 'over_quota':
      return `Do not repeat the call before that: ${config.appUrl}/usage shows the quotas of the account.`;
    case 'unavailable':
      return `Call ${tool} again in ${error.retryAfterSeconds ?? 5} seconds.`;
    default:
      return '';
  }
}
