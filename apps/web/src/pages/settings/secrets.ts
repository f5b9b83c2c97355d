import { isUuid } from '@carillon/contract/validation/formats';
import type { WebActionData } from '../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { type Html, html, raw } from '../../html.ts';
import { renderNotFound } from '../../http/errors.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderSections } from './sections.ts';

export const SECRETS = '/settings/secrets';

type Secret = WebActionData<'listSecrets'>['secrets'][number];

/** The value is not shown again, not even after an error. */
interface SecretValues {
  name: string;
  host: string;
  header: string;
}

export const showSecrets = (context: UserPageContext): Promise<Page> =>
  renderSecrets(context, { name: '', host: '', header: 'Authorization' }, NO_ERRORS);

const listSecrets = async ({ actions, session }: UserPageContext) =>
  unwrap(await actions.listSecrets(session, {})).secrets;

async function renderSecrets(context: UserPageContext, values: SecretValues, errors: FormErrors): Promise<Page> {
  const { texts } = context;
  const { secrets } = texts;
  return {
    title: secrets.title,
    subtitle: secrets.subtitle,
    body: html`${renderSections(texts, SECRETS)}
${renderList(context, await listSecrets(context))}
<section aria-labelledby="new-secret"><div class="head"><h2 id="new-secret">${secrets.newSecret}</h2></div>${renderForm(context, values, errors)}</section>`,
  };
}

function renderList(context: UserPageContext, list: readonly Secret[]): Html {
  const { secrets, forms, lists } = context.texts;
  if (list.length === 0) return html`<div class="rows"><p class="empty">${secrets.none}</p></div>`;
  return renderTable(
    secrets.caption,
    [
      { head: secrets.name },
      { head: secrets.host },
      { head: secrets.header },
      { head: secrets.lastUsed },
      { head: html`<span class="vh">${lists.actions}</span>` },
    ],
    list.map(({ id, name, host, header, lastUsedAt }) =>
      renderRow(
        renderRowHead(html`<b>${name}</b>`),
        renderCell(html`<code>${host}</code>`, { label: secrets.host }),
        renderCell(html`<code>${header}</code>`, { label: secrets.header }),
        renderCell(lastUsedAt === null ? secrets.never : renderMomentWithDistance(lastUsedAt, context), {
          label: secrets.lastUsed,
        }),
        renderCell(
          html`<a class="button danger" href="${SECRETS}/${id}/delete" aria-label="${secrets.deleteSecret(name)}">${forms.delete}</a>`,
          { class: 'num whole' },
        ),
      ),
    ),
  );
}

function renderForm({ csrfField, texts }: UserPageContext, values: SecretValues, errors: FormErrors): Html {
  const { secrets } = texts;
  const plain = raw('spellcheck="false" autocapitalize="off"');
  const common = { autocomplete: 'off', required: true, errors };
  return html`<form class="panel gap narrow" method="post" action="${SECRETS}">${csrfField}
${renderFormError(errors, texts)}
${renderInput({ name: 'name', label: secrets.name, value: values.name, hint: secrets.nameHint, attributes: plain, ...common })}
${renderInput({ name: 'host', label: secrets.host, value: values.host, hint: secrets.hostHint, attributes: plain, ...common })}
${renderInput({ name: 'header', label: secrets.header, value: values.header, hint: secrets.headerHint, attributes: plain, ...common })}
${renderInput({ ...common, name: 'value', label: secrets.value, type: 'password', hint: secrets.valueHint, autocomplete: 'new-password' })}
<div class="do"><button class="primary">${secrets.create}</button></div>
</form>`;
}

export async function createSecret(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, request, session, texts } = context;
  const form = readForm(request);
  const values = { name: form.text('name').trim(), host: form.text('host').trim(), header: form.text('header').trim() };
  const result = await actions.createSecret(session, { ...values, value: form.text('value').trim() });
  if (result.success) return redirect(SECRETS, texts.secrets.created);
  const errors = toFormErrors(result, texts);
  const name = errors.fields.name && { name: [texts.secrets.nameForm] };
  const shown = { ...errors, fields: { ...errors.fields, ...name } };
  return { ...(await renderSecrets(context, values, shown)), status: toStatus(result) };
}

const getId = ({ request }: UserPageContext) => (request.params as { id: string }).id;

export async function showSecretDeletion(context: UserPageContext): Promise<Page> {
  const id = getId(context).toLowerCase();
  const secret = (await listSecrets(context)).find((one) => one.id === id);
  if (!secret) return renderNotFound(context);
  const { secrets, forms } = context.texts;
  return {
    title: secrets.deleteTitle,
    breadcrumb: { href: SECRETS, text: secrets.title },
    subtitle: secrets.deleteText,
    body: html`<form class="panel gap narrow" method="post" action="${SECRETS}/${id}/delete">${context.csrfField}
<p>${secrets.deleteName(html`<b>${secret.name}</b>`, html`<code>${secret.host}</code>`)}</p>
<div class="do"><button class="danger">${secrets.deleteTitle}</button><a class="button quiet" href="${SECRETS}">${forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteSecret(context: UserPageContext): Promise<Page | Redirect> {
  const id = getId(context);
  if (!isUuid(id)) return renderNotFound(context);
  unwrap(await context.actions.deleteSecret(context.session, { id }));
  return redirect(SECRETS, context.texts.secrets.deleted);
}
