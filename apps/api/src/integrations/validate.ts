import type { ValidateDesignInput, ValidateNotesInput } from '@carillon/contract/integrations';
import type { Context } from '../context.ts';
import type { Verdict } from '../third-party/integrations.ts';

/** Whether a key of Notion works, and for which workspace (decisions §11). Never throws. */
export const validateNotes = async (ctx: Context, { apiKey }: ValidateNotesInput) =>
  noted(ctx, 'NOTES_API_URL', await ctx.integrations.checkNotes(apiKey));

/** Whether a token of Figma works, and for which user (decisions §11). Never throws. */
export const validateDesign = async (ctx: Context, { token }: ValidateDesignInput) =>
  noted(ctx, 'DESIGN_API_URL', await ctx.integrations.checkDesign(token));

/** The operator learns of a tool that cannot be asked: the address may be wrong. */
function noted<T>(ctx: Context, variable: string, verdict: Verdict<T>): Verdict<T> {
  if (!verdict.valid && verdict.reason === 'unavailable') {
    ctx.log.warn({ variable, reason: verdict.error }, 'an integration could not be checked');
  }
  return verdict;
}
