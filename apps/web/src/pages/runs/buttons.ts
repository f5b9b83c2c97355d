import type { ActionError } from '@carillon/contract/actions/index';
import { type Page, type Redirect, redirect } from '../../answer.ts';
import { toFormErrors, toStatus } from '../../components/fields.ts';
import { readForm } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';
import { readRunId, renderRunPage } from './run.ts';

export async function retryRun(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readRunId(visit);
  const result = await visit.actions.retryRun(visit.session, { id });
  if (!result.success) {
    const isConflict = result.code === 'CONFLICT';
    return showRefusal(visit, id, isConflict ? { ...result, error: 'Only a failed run can be retried.' } : result);
  }
  return redirect(`/executions/${result.data.id}`, 'The run is queued.');
}

export async function stopRun(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readRunId(visit);
  const result = await visit.actions.cancelRun(visit.session, { id });
  if (!result.success) {
    const isConflict = result.code === 'CONFLICT';
    return showRefusal(visit, id, isConflict ? { ...result, error: 'This run has already ended.' } : result);
  }
  return redirect(`/executions/${id}`, 'The run is stopped.');
}

export async function runAgain(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readRunId(visit);
  const result = await visit.actions.runAgain(visit.session, { id });
  if (!result.success) return showRefusal(visit, id, result);
  return redirect(`/executions/${result.data.id}`, 'The run is queued.');
}

export async function deliverAgain(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readRunId(visit);
  const [webhookId = '', deliveryId = '', kind] = readForm(visit.request).text('delivery').split(' ');
  const result = await visit.actions.deliverAgain(visit.session, {
    webhookId,
    deliveryId,
    isChannel: kind === 'channel',
  });
  if (!result.success) return showRefusal(visit, id, result);
  return redirect(`/executions/${id}#deliveries`, 'It is sent again.');
}

/** Shows the run with the reason why something cannot be done. */
async function showRefusal(visit: SignedInVisit, id: number, result: ActionError): Promise<Page> {
  const errors = toFormErrors(result);
  const page = renderRunPage(visit, unwrap(await visit.actions.getRun(visit.session, { id })), errors);
  return { ...page, status: toStatus(result) };
}
