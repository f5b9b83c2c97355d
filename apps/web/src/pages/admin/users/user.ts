import type { WebActionInput } from '@carillon/contract/actions/web/index';
import { type Page, type Redirect, redirect } from '../../../answer.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../../components/fields.ts';
import { countWords } from '../../../components/format.ts';
import { readForm } from '../../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../../visit.ts';
import { parseLocalTime, toLocalTime } from '../local-time.ts';
import { askToConfirm, needsConfirmation, readIdOf, readTyped } from '../requests.ts';
import { type Account, type FilledForms, renderUser } from './user-page.ts';

const FIELDS = ['role', 'plan', 'trialEndsAt', 'days'] as const;

async function readAccount(visit: SignedInVisit): Promise<Account> {
  return unwrap(await visit.actions.getAccount(visit.session, { id: readIdOf(visit) }));
}

export async function showUser(visit: SignedInVisit): Promise<Page> {
  const account = await readAccount(visit);
  const forms = fill(visit, account);
  const kept = readTyped(visit, FIELDS);
  if (kept === null) return renderUser(visit, account, forms);
  const { days, ...typed } = kept;
  const changes = days === '' ? { typed } : { days };
  return renderUser(visit, account, { ...forms, ...changes, isKept: true });
}

const fill = ({ timeZone }: SignedInVisit, { role, plan, trialEndsAt }: Account): FilledForms => ({
  typed: { role, plan, trialEndsAt: trialEndsAt === null ? '' : toLocalTime(new Date(trialEndsAt), timeZone) },
  errors: NO_ERRORS,
  days: '14',
  trialErrors: NO_ERRORS,
  isKept: false,
});

async function showAgain(visit: SignedInVisit, forms: Partial<FilledForms>, status: number): Promise<Page> {
  const account = await readAccount(visit);
  return { ...renderUser(visit, account, { ...fill(visit, account), ...forms }), status };
}

export async function changeUser(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readIdOf(visit);
  const form = readForm(visit.request);
  const typed = { role: form.text('role'), plan: form.text('plan'), trialEndsAt: form.text('trialEndsAt').trim() };
  const end = parseLocalTime(typed.trialEndsAt, visit.timeZone);
  if (typed.trialEndsAt !== '' && end === null) {
    const errors: FormErrors = { fields: { trialEndsAt: ['is not a date and time'] }, form: null };
    return showAgain(visit, { typed, errors }, 422);
  }
  // The field has no seconds: as long as it is not changed, the instant stays.
  const isSame = form.text('shownTrialEnd') === typed.trialEndsAt;
  const changes = {
    role: typed.role,
    plan: typed.plan,
    ...(!isSame && { trialEndsAt: end?.toISOString() ?? null }),
  };
  const result = await visit.actions.changeAccount(visit.session, {
    id,
    ...changes,
  } as WebActionInput<'changeAccount'>);
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/users/${id}`, typed);
  if (!result.success) return showAgain(visit, { typed, errors: toFormErrors(result) }, toStatus(result));
  if (id === visit.viewer.id && result.data.role !== 'ADMIN') {
    return endOwnAccess(visit, 'You are no longer an administrator. Sign in again.');
  }
  return redirect(`/admin/users/${id}`, 'The account is saved.');
}

/** The sessions of the account have ended with the change. */
export const endOwnAccess = ({ dashboard }: SignedInVisit, text: string): Redirect => ({
  ...redirect('/sign-in', text),
  cookies: [dashboard.serializeSession(null)],
});

const DAY_MS = 86_400_000;

export async function extendTrial(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readIdOf(visit);
  const days = readForm(visit.request).text('days').trim();
  const count = /^\d{1,4}$/.test(days) ? Number(days) : 0;
  if (count < 1 || count > 3650) {
    const trialErrors: FormErrors = { fields: { days: ['must be a number from 1 to 3650'] }, form: null };
    return showAgain(visit, { days, trialErrors }, 422);
  }
  const { trialEndsAt } = await readAccount(visit);
  const from = Math.max(visit.now.getTime(), trialEndsAt === null ? 0 : new Date(trialEndsAt).getTime());
  const result = await visit.actions.changeAccount(visit.session, {
    id,
    trialEndsAt: new Date(from + count * DAY_MS).toISOString(),
  });
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/users/${id}`, { days });
  if (!result.success) return showAgain(visit, { days, trialErrors: toFormErrors(result) }, toStatus(result));
  return redirect(`/admin/users/${id}`, `The trial is ${countWords(count, 'day')} longer.`);
}

export async function reactivateUser(visit: SignedInVisit): Promise<Page | Redirect> {
  const id = readIdOf(visit);
  const result = await visit.actions.changeAccount(visit.session, { id, isActive: true });
  if (needsConfirmation(result)) return askToConfirm(visit, `/admin/users/${id}`);
  if (!result.success) return showAgain(visit, { errors: toFormErrors(result) }, toStatus(result));
  return redirect(
    `/admin/users/${id}`,
    'The account is active again. Its tasks run again, from their next planned run.',
  );
}
