import { toFormErrors, toStatus } from '../../components/fields.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import type { AlertForm } from './alerts.ts';
import { renderUsage } from './show.ts';

export async function addUsageAlert(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request } = context;
  const { usage, formats } = context.texts;
  const form = readForm(request);
  const values: AlertForm = {
    threshold: form.text('threshold'),
    notifyEmail: form.has('notifyEmail'),
    notifyWebhook: form.has('notifyWebhook'),
  };
  const { threshold, ...channels } = values;
  const result = await actions.setUsageAlert(session, {
    ...channels,
    threshold: /^\d{1,9}$/.test(threshold) ? Number(threshold) : 0,
  });
  if (result.success) return redirect('/usage#alerts', usage.added(formats.percent(result.data.threshold / 100)));
  const month = unwrap(await actions.getUsageMonth(session, {}));
  return {
    ...renderUsage(context, month, { values, errors: toFormErrors(result, context.texts) }),
    status: toStatus(result),
  };
}

export async function removeUsageAlert(context: UserPageContext): Promise<Redirect> {
  const { actions, session } = context;
  const id = readId(context);
  unwrap(await actions.deleteUsageAlert(session, { id }));
  return redirect('/usage#alerts', context.texts.usage.removed);
}
