import { sql } from 'drizzle-orm';

/**
 * An estimate of the input of a run whose provider did not report it: four characters per token. For statements with
 * the aliases `e` (executions) and `t` (tasks); executions of older versions have no request.
 */
export const promptTokens = sql`ceil(coalesce(length(e.request ->> 'prompt')
  + coalesce(length(e.request ->> 'system'), 0), length(t.prompt)) / 4.0)::int`;

/** The model that an execution asked, for the same aliases. */
export const requestedModel = sql`coalesce(e.request ->> 'model', t.ai_model)`;
