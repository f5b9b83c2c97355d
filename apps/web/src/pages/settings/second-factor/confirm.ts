import { confirmByForm, renderConfirmForms } from '../../../components/confirm-forms.ts';
import { type FormErrors, NO_ERRORS, toStatus } from '../../../components/fields.ts';
import { PASSKEY_SCRIPTS } from '../../../components/passkey-form.ts';
import { readForm, readQuery } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, toOwnPath, type UserPageContext, unwrap } from '../../../page.ts';
import { LIST } from './list.ts';

const PATH = '/settings/confirm';

async function renderConfirm(context: UserPageContext, next: string, errors: FormErrors): Promise<Page> {
  const { secondFactor } = context.texts;
  const confirmation = unwrap(await context.actions.getConfirmation(context.session, {}));
  return {
    title: secondFactor.confirmTitle,
    breadcrumb: { href: LIST, text: secondFactor.title },
    subtitle: secondFactor.confirmText,
    scripts: PASSKEY_SCRIPTS,
    body: renderConfirmForms(context, { path: PATH, next, confirmation, takesPassword: false, errors }),
  };
}

const toNext = (next: unknown): string => {
  const path = toOwnPath(next);
  return path === '/' ? LIST : path;
};

export const showConfirm = (context: UserPageContext): Promise<Page> =>
  renderConfirm(context, toNext(readQuery(context.request).next), NO_ERRORS);

export async function confirm(context: UserPageContext): Promise<Page | Redirect> {
  const next = toNext(readForm(context.request).text('next'));
  const failed = await confirmByForm(context);
  if (failed === null) return redirect(next, context.texts.admin.confirmed);
  return { ...(await renderConfirm(context, next, failed.errors)), status: toStatus(failed.result) };
}
