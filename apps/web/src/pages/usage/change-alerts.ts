import { parseId } from '@carillon/contract/primitives';
import { type Page, type Redirect, redirect } from '../../answer.ts';
import { toFormErrors, toStatus } from '../../components/fields.ts';
import { readForm } from '../../http/forms.ts';
import { ActionStop, type SignedInVisit, unwrap } from '../../visit.ts';
import type { TypedAlert } from './alerts.ts';
import { renderUsage } from './show.ts';

export async function addUsageAlert(visit: SignedInVisit): Promise<Page | Redirect> {
  const { actions, session, request } = visit;
  const form = readForm(request);
  const typed: TypedAlert = {
    threshold: form.text('threshold'),
    notifyEmail: form.has('notifyEmail'),
    notifyWebhook: form.has('notifyWebhook'),
  };
  const { threshold, ...channels } = typed;
  const result = await actions.setUsageAlert(session, {
    ...channels,
    threshold: /^\d{1,9}$/.test(threshold) ? Number(threshold) : 0,
  });
  if (result.success) return redirect('/usage#alerts', `You are told at ${result.data.threshold} % of a limit.`);
  const month = unwrap(await actions.getUsageMonth(session, {}));
  return { ...renderUsage(visit, month, { typed, errors: toFormErrors(result) }), status: toStatus(result) };
}

export async function removeUsageAlert(visit: SignedInVisit): Promise<Redirect> {
  const { actions, session, request } = visit;
  const id = parseId((request.params as { id: string }).id);
  if (id === null) throw new ActionStop({ success: false, error: 'Alert not found', code: 'NOT_FOUND' });
  unwrap(await actions.deleteUsageAlert(session, { id }));
  return redirect('/usage#alerts', 'The alert is removed.');
}
