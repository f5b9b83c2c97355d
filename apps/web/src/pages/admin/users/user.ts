import type { WebActionInput } from '@carillon/contract/actions/web/index';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../../components/fields.ts';
import { formatLocalTime, parseLocalTime } from '../../../components/schedule/local-time.ts';
import { readForm } from '../../../http/forms.ts';
import { readId } from '../../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { askToConfirm, needsConfirmation, readFormValues } from '../requests.ts';
import { type Account, type FilledForms, renderUser } from './user-page.ts';

const FIELDS = ['role', 'plan', 'trialEndsAt', 'days'] as const;

async function readAccount(context: UserPageContext): Promise<Account> {
  return unwrap(await context.actions.getAccount(context.session, { id: readId(context) }));
}

export async function showUser(context: UserPageContext): Promise<Page> {
  const account = await readAccount(context);
  const forms = fill(context, account);
  const kept = readFormValues(context, FIELDS);
  if (kept === null) return renderUser(context, account, forms);
  const { days, ...values } = kept;
  const changes = days === '' ? { values } : { days };
  return renderUser(context, account, { ...forms, ...changes, isKept: true });
}

const fill = ({ timeZone }: UserPageContext, { role, plan, trialEndsAt }: Account): FilledForms => ({
  values: { role, plan, trialEndsAt: trialEndsAt === null ? '' : formatLocalTime(new Date(trialEndsAt), timeZone) },
  errors: NO_ERRORS,
  days: '14',
  trialErrors: NO_ERRORS,
  isKept: false,
});

async function showAgain(context: UserPageContext, forms: Partial<FilledForms>, status: number): Promise<Page> {
  const account = await readAccount(context);
  return { ...renderUser(context, account, { ...fill(context, account), ...forms }), status };
}

export async function changeUser(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const form = readForm(context.request);
  const values = { role: form.text('role'), plan: form.text('plan'), trialEndsAt: form.text('trialEndsAt').trim() };
  const end = parseLocalTime(values.trialEndsAt, context.timeZone);
  if (values.trialEndsAt !== '' && end === null) {
    const errors: FormErrors = { fields: { trialEndsAt: [context.texts.admin.notATime] }, form: null };
    return showAgain(context, { values, errors }, 422);
  }
  // The field has no seconds: as long as it is not changed, the instant stays.
  const isSame = form.text('shownTrialEnd') === values.trialEndsAt;
  const changes = {
    role: values.role,
    plan: values.plan,
    ...(!isSame && { trialEndsAt: end?.toISOString() ?? null }),
  };
  const result = await context.actions.changeAccount(context.session, {
    id,
    ...changes,
  } as WebActionInput<'changeAccount'>);
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}`, values);
  if (!result.success)
    return showAgain(context, { values, errors: toFormErrors(result, context.texts) }, toStatus(result));
  if (id === context.viewer.id && result.data.role !== 'ADMIN') {
    return endOwnAccess(context, context.texts.accounts.demoted);
  }
  return redirect(`/admin/users/${id}`, context.texts.accounts.saved);
}

/** The user's sessions have ended with the change. */
export const endOwnAccess = ({ dashboard }: UserPageContext, text: string): Redirect => ({
  ...redirect('/sign-in', text),
  cookies: [dashboard.serializeSession(null)],
});

const DAY_MS = 86_400_000;

export async function extendTrial(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const days = readForm(context.request).text('days').trim();
  const count = /^\d{1,4}$/.test(days) ? Number(days) : 0;
  if (count < 1 || count > 3650) {
    const trialErrors: FormErrors = { fields: { days: [context.texts.accounts.wrongDays] }, form: null };
    return showAgain(context, { days, trialErrors }, 422);
  }
  const { trialEndsAt } = await readAccount(context);
  const from = Math.max(context.now.getTime(), trialEndsAt === null ? 0 : new Date(trialEndsAt).getTime());
  const result = await context.actions.changeAccount(context.session, {
    id,
    trialEndsAt: new Date(from + count * DAY_MS).toISOString(),
  });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}`, { days });
  if (!result.success)
    return showAgain(context, { days, trialErrors: toFormErrors(result, context.texts) }, toStatus(result));
  return redirect(`/admin/users/${id}`, context.texts.accounts.extended(count));
}

export async function reactivateUser(context: UserPageContext): Promise<Page | Redirect> {
  const id = readId(context);
  const result = await context.actions.changeAccount(context.session, { id, isActive: true });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/users/${id}`);
  if (!result.success) return showAgain(context, { errors: toFormErrors(result, context.texts) }, toStatus(result));
  return redirect(`/admin/users/${id}`, context.texts.accounts.reactivated);
}
