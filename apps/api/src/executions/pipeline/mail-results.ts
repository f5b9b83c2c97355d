import { users } from '@carillon/db';
import { toStorableText } from '@carillon/db/storable-text';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { type NewMail, queueMails } from '../../mail/queue.ts';
import type { CompletedExecution } from './execution-result.ts';

const MAX_RESULT_LENGTH = 20_000;

export async function mailResults(tx: Context, completed: readonly CompletedExecution[]): Promise<void> {
  const wanted = completed.filter(({ notificationEmail }) => notificationEmail !== null);
  if (wanted.length === 0) return;
  const userIds = [...new Set(wanted.map(({ userId }) => userId))];
  const owners = await tx.db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(inArray(users.id, userIds), eq(users.isActive, true)));
  const emailById = new Map(owners.map(({ id, email }) => [id, email]));
  await queueMails(
    tx,
    wanted.flatMap((execution) => {
      const ownerEmail = emailById.get(execution.userId);
      return ownerEmail === undefined ? [] : [buildMail(tx, execution, ownerEmail)];
    }),
  );
}

function buildMail({ config }: Context, execution: CompletedExecution, ownerEmail: string): NewMail {
  const { id, userId, taskName, result, notificationEmail } = execution;
  const status = result.ok ? 'completed' : 'failed';
  const text = `A run of the task "${taskName}" ${status}.

${result.ok ? shorten(result.text) : result.message}

The run: ${config.appUrl}/executions/${id}

-- 
You get this because the Carillon account ${ownerEmail} has the results of this task sent to this address.
`;
  return { to: notificationEmail as string, userId, subject: `Task "${taskName}": run ${status}`, text };
}

function shorten(text: string): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  return `${toStorableText(text, MAX_RESULT_LENGTH)} […]\n\n(This is the beginning; all of it is there with the run.)`;
}
