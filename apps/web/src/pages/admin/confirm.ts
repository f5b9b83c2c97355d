import { confirmByForm, renderConfirmForms } from '../../components/confirm-forms.ts';
import { type FormErrors, NO_ERRORS, toStatus } from '../../components/fields.ts';
import { PASSKEY_SCRIPTS } from '../../components/passkey-form.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, toOwnPath, type UserPageContext, unwrap } from '../../page.ts';

async function renderConfirm(context: UserPageContext, next: string, errors: FormErrors): Promise<Page> {
  const { admin } = context.texts;
  const confirmation = unwrap(await context.actions.getConfirmation(context.session, {}));
  const { hasPassword, factorKinds } = confirmation;
  return {
    title: admin.confirm,
    breadcrumb: { href: '/admin', text: admin.title },
    subtitle: hasPassword || factorKinds.length > 0 ? admin.confirmText : undefined,
    scripts: PASSKEY_SCRIPTS,
    body: renderConfirmForms(context, { path: '/admin/confirm', next, confirmation, takesPassword: true, errors }),
  };
}

export const showConfirm = (context: UserPageContext): Promise<Page> =>
  renderConfirm(context, toAdminPath(readQuery(context.request).next), NO_ERRORS);

export async function confirm(context: UserPageContext): Promise<Page | Redirect> {
  const next = toAdminPath(readForm(context.request).text('next'));
  const failed = await confirmByForm(context);
  if (failed === null) return redirect(next, context.texts.admin.confirmed);
  return { ...(await renderConfirm(context, next, failed.errors)), status: toStatus(failed.result) };
}

const toAdminPath = (next: unknown): string => {
  const path = toOwnPath(next);
  return path === '/' ? '/admin' : path;
};
