import type { ActionError } from '@carillon/contract/actions/index';
import { toFormErrors, toStatus } from '../../components/fields.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readAttempt } from '../task-form/attempt.ts';
import { renderRunPage } from './run.ts';

export async function retryRun(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const result = await context.actions.retryRun(context.session, { id });
  if (!result.success) {
    const isConflict = result.code === 'CONFLICT';
    return showRefusal(context, id, isConflict ? { ...result, error: context.texts.runs.onlyFailed } : result);
  }
  return redirect(`/executions/${result.data.id}`, context.texts.runs.queued);
}

export async function stopRun(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const result = await context.actions.cancelRun(context.session, { id });
  if (!result.success) {
    const isConflict = result.code === 'CONFLICT';
    return showRefusal(context, id, isConflict ? { ...result, error: context.texts.runs.hasEnded } : result);
  }
  return redirect(`/executions/${id}`, context.texts.runs.stopped);
}

export async function runAgain(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const result = await context.actions.runAgain(context.session, { id, ...readAttempt(readForm(context.request)) });
  if (!result.success) return showRefusal(context, id, result);
  return redirect(`/executions/${result.data.id}`, context.texts.runs.queued);
}

export async function deliverAgain(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const [webhookId = '', deliveryId = '', kind] = readForm(context.request).text('delivery').split(' ');
  const result = await context.actions.deliverAgain(context.session, {
    webhookId,
    deliveryId,
    isChannel: kind === 'channel',
  });
  if (!result.success) return showRefusal(context, id, result);
  return redirect(`/executions/${id}#deliveries`, context.texts.runs.sentAgain);
}

/** Shows the run with the reason why something cannot be done. */
async function showRefusal(context: UserPageContext, id: number, result: ActionError): Promise<Page> {
  const errors = toFormErrors(result, context.texts);
  const page = renderRunPage(context, unwrap(await context.actions.getRun(context.session, { id })), errors);
  return { ...page, status: toStatus(result) };
}
