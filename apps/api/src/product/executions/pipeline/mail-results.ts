import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import { users } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { describeChanges } from '../../../lib/differences/describe-changes.ts';
import { type NewMail, queueMails } from '../../../lib/mail/queue.ts';
import { CUT_OFF, describeSources } from '../../deliveries/messages/format/message-blocks.ts';
import { toPlainText } from '../../deliveries/messages/format/plain-text.ts';
import { listOf } from '../../deliveries/messages/format/tree.ts';
import { findConfirmed } from '../../notifications/addresses.ts';
import { isWanted } from '../result/last-success.ts';
import type { CompletedExecution } from './execution-result.ts';

const MAX_RESULT_LENGTH = 20_000;

/** Mails nothing to an address that is not confirmed. */
export async function mailResults(tx: Context, completed: readonly CompletedExecution[]): Promise<void> {
  const wanted = completed.filter((execution) => execution.notificationEmail !== null && isWanted(execution));
  if (wanted.length === 0) return;
  const userIds = [...new Set(wanted.map(({ userId }) => userId))];
  const owners = await tx.db
    .select({ id: users.id, email: users.email, emailVerifiedAt: users.emailVerifiedAt })
    .from(users)
    .where(and(inArray(users.id, userIds), eq(users.isActive, true)));
  const ownerById = new Map(owners.map((owner) => [owner.id, owner]));
  const addresses = wanted.map(({ notificationEmail }) => notificationEmail as string);
  const isConfirmed = await findConfirmed(tx, userIds, [...new Set(addresses)]);
  await queueMails(
    tx,
    wanted.flatMap((execution) => {
      const owner = ownerById.get(execution.userId);
      const to = execution.notificationEmail as string;
      const isOwn = to === owner?.email && owner.emailVerifiedAt !== null;
      return owner && (isOwn || isConfirmed(owner.id, to)) ? [buildMail(tx, execution, owner.email)] : [];
    }),
  );
}

function buildMail({ config }: Context, execution: CompletedExecution, ownerEmail: string): NewMail {
  const { id, userId, taskName, result, notificationEmail } = execution;
  const status = result.ok ? (result.outcome === 'not_done' ? 'did not do what it is for' : 'completed') : 'failed';
  const changes = (result.ok && result.comparison?.changes) || [];
  const difference =
    changes.length > 0 ? `Its result differs from the last one:\n\n${describeChanges(changes)}\n\nThe result:\n\n` : '';
  const text = `A run of the task "${taskName}" ${status}.

${result.ok && result.outcome === 'not_done' ? `Not done: ${result.outcomeReason}\n\n` : ''}${result.ok && result.isCut ? `${CUT_OFF}\n\n` : ''}${difference}${result.ok ? shorten(result.text) : result.message}
${listSources(result)}
The run: ${config.appUrl}/executions/${id}

-- 
You get this because the Carillon account ${ownerEmail} has the results of this task sent to this address.
`;
  const event = changes.length > 0 ? 'result changed' : `run ${status}`;
  return { to: notificationEmail as string, userId, subject: `Task "${taskName}": ${event}`, text };
}

function listSources(result: CompletedExecution['result']): string {
  const sources = result.ok && describeSources({ citations: result.citations ?? [] });
  return sources ? `\nSources:\n${toPlainText([listOf(sources.items)])}\n` : '';
}

function shorten(text: string): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  return `${toStorableText(text, MAX_RESULT_LENGTH)} […]\n\n(This is the beginning; all of it is there with the run.)`;
}
