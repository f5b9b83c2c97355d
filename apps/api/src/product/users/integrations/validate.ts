import type { ValidateDesignInput, ValidateNotesInput } from '@carillon/contract/integrations';
import type { Context } from '../../../context.ts';
import type { Verdict } from '../../../lib/third-party/integrations.ts';

/** Whether a Notion key works, and for which workspace. Never throws. */
export const validateNotes = async (ctx: Context, { apiKey }: ValidateNotesInput) =>
  logUnavailable(ctx, 'NOTES_API_URL', await ctx.integrations.checkNotes(apiKey));

/** Whether a Figma token works, and for which user. Never throws. */
export const validateDesign = async (ctx: Context, { token }: ValidateDesignInput) =>
  logUnavailable(ctx, 'DESIGN_API_URL', await ctx.integrations.checkDesign(token));

/** For the operator, since the address may be wrong. */
function logUnavailable<T>(ctx: Context, variable: string, verdict: Verdict<T>): Verdict<T> {
  if (!verdict.valid && verdict.reason === 'unavailable') {
    ctx.log.warn({ variable, reason: verdict.error }, 'integration check failed');
  }
  return verdict;
}
