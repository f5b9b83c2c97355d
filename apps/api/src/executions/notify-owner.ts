import { users } from '@carillon/db';
import { toStorableText } from '@carillon/db/storable-text';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { type NewMail, queueMails } from '../mail/queue.ts';
import type { Conclusion } from './conclude.ts';

/** UTF-16 code units of a result that a mail repeats; the rest is where the link leads. */
const SHOWN_LENGTH = 20_000;

/**
 * Queues a mail for each run that ended for good and whose task has a `notificationEmail`, in the transaction of its
 * end: with the result or the error, a link to the run, and why it comes. Nothing for a deactivated account. Asks the
 * database only where somebody wants a mail.
 */
export async function mailEnds(ctx: Context, conclusions: readonly Conclusion[]): Promise<void> {
  const wanted = conclusions.filter(({ ended, retryAt }) => ended.notificationEmail !== null && retryAt === null);
  if (wanted.length === 0) return;
  const userIds = [...new Set(wanted.map(({ ended }) => ended.userId))];
  const owners = await ctx.db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(inArray(users.id, userIds), eq(users.isActive, true)));
  const emailOf = new Map(owners.map(({ id, email }) => [id, email]));
  await queueMails(
    ctx,
    wanted.flatMap((conclusion) => {
      const owner = emailOf.get(conclusion.ended.userId);
      return owner === undefined ? [] : [compose(ctx, conclusion, owner)];
    }),
  );
}

function compose(ctx: Context, { ended }: Conclusion, owner: string): NewMail {
  const { id, userId, taskName, outcome, notificationEmail } = ended;
  const link = `${ctx.config.appUrl}/executions/${id}`;
  const [word, told] = outcome.ok ? ['completed', shorten(outcome.text)] : ['failed', outcome.message];
  const text = `A run of the task "${taskName}" ${word}.

${told}

The run: ${link}

-- 
You get this because the Carillon account ${owner} has the results of this task sent to this address.
`;
  return { to: notificationEmail as string, userId, subject: `Task "${taskName}": run ${word}`, text };
}

function shorten(result: string): string {
  if (result.length <= SHOWN_LENGTH) return result;
  return `${toStorableText(result, SHOWN_LENGTH)} […]\n\n(This is the beginning; all of it is there with the run.)`;
}
