import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import { users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { describeChanges } from '../../../lib/differences/describe-changes.ts';
import { type NewMail, queueMails } from '../../../lib/mail/queue.ts';
import { describeSources } from '../../deliveries/messages/format/message-blocks.ts';
import { listOf, toPlainText } from '../../deliveries/messages/format/tree.ts';
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
  const { id, userId, owner, taskName, result, notificationEmail } = execution;
  const texts = getTexts(owner.language).messages;
  const changes = (result.ok && result.comparison?.changes) || [];
  const isNotDone = result.ok && result.outcome === 'not_done';
  const outcome = !result.ok ? 'failed' : isNotDone ? 'not_done' : changes.length > 0 ? 'changed' : 'completed';
  const difference = changes.length > 0 ? texts.resultDiffers(describeChanges(changes, owner.language)) : '';
  const text = `${texts.resultText(taskName, outcome)}

${isNotDone ? `${texts.resultNotDone(result.outcomeReason ?? '')}\n\n` : ''}${result.ok && result.isCut ? `${texts.cutOff}\n\n` : ''}${difference}${result.ok ? shorten(result.text, texts.resultIsLonger) : result.message}
${listSources(execution)}
${texts.run(`${config.appUrl}/executions/${id}`)}

-- 
${texts.resultFooter(ownerEmail)}
`;
  return { to: notificationEmail as string, userId, subject: texts.resultSubject(taskName, outcome), text };
}

function listSources({ result, owner }: CompletedExecution): string {
  const sources = result.ok && describeSources({ citations: result.citations ?? [], reader: owner });
  if (!sources) return '';
  return `\n${getTexts(owner.language).messages.sources}:\n${toPlainText([listOf(sources.items)])}\n`;
}

function shorten(text: string, note: string): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  return `${toStorableText(text, MAX_RESULT_LENGTH)} […]\n\n${note}`;
}
