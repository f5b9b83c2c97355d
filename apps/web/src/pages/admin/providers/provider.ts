import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../../components/fields.ts';
import { html } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import { ActionFailed, type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { askToConfirm, needsConfirmation, readFormValues, renderKept } from '../requests.ts';
import { FIELDS, type ProviderValues, readProvider, renderProviderFields, type Tested, toInput } from './form.ts';

type Provider = WebActionData<'listProviders'>['providers'][number];

async function readProviderOf({ actions, session, request }: UserPageContext): Promise<Provider> {
  const { id } = request.params as { id: string };
  const { providers } = unwrap(await actions.listProviders(session, {}));
  const provider = providers.find((one) => one.id === id);
  if (!provider) throw new ActionFailed({ success: false, error: 'Not found', code: 'NOT_FOUND' });
  return provider;
}

const toValues = ({ name, kind, baseUrl, maxConcurrent }: Provider): ProviderValues => ({
  name,
  kind,
  baseUrl,
  maxConcurrent: maxConcurrent === null ? '' : String(maxConcurrent),
  model: '',
  isDefaultModel: '',
});

export async function showProvider(context: UserPageContext): Promise<Page> {
  const provider = await readProviderOf(context);
  const kept = readFormValues(context, FIELDS);
  return renderProvider(context, provider, kept ?? toValues(provider), { isKept: kept !== null });
}

export async function changeProvider(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session } = context;
  const provider = await readProviderOf(context);
  const { id } = provider;
  const form = readForm(context.request);
  const values = readProvider(form);
  if (form.text('action') === 'test') {
    const result = await actions.testProvider(session, { id, model: values.model });
    if (needsConfirmation(result)) return askToConfirm(context, `/admin/providers/${id}`, values);
    const shown = provider.source === 'environment' ? { ...toValues(provider), model: values.model } : values;
    if (result.success) return renderProvider(context, provider, shown, { tested: result.data });
    return {
      ...renderProvider(context, provider, shown, { errors: toFormErrors(result, context.texts) }),
      status: toStatus(result),
    };
  }
  const result = await actions.changeProvider(session, { id, ...toInput(values, form.text('apiKey')) });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/providers/${id}`, values);
  if (result.success) return redirect('/admin/providers', context.texts.providers.saved(result.data.name));
  return {
    ...renderProvider(context, provider, values, { errors: toFormErrors(result, context.texts) }),
    status: toStatus(result),
  };
}

interface Shown {
  errors?: FormErrors;
  tested?: Tested | null;
  isKept?: boolean;
}

function renderProvider(
  context: UserPageContext,
  { id, name, source, hasApiKey }: Provider,
  values: ProviderValues,
  { errors = NO_ERRORS, tested = null, isKept = false }: Shown,
): Page {
  const isStored = source === 'settings';
  const { providers: texts, forms } = context.texts;
  return {
    title: name,
    breadcrumb: { href: '/admin/providers', text: texts.title },
    ...(isStored
      ? { aside: html`<a class="button danger" href="/admin/providers/${id}/delete">${forms.delete}</a>` }
      : { subtitle: texts.changeThere }),
    body: html`${renderKept(context.texts, isKept)}<form class="panel gap narrow" method="post" action="/admin/providers/${id}">${context.csrfField}
${renderProviderFields(context, values, errors, { hasKey: hasApiKey, tested, isNew: false })}
<div class="do">${isStored && html`<button class="primary" name="action" value="save">${forms.save}</button>`}<button name="action" value="test" formnovalidate>${texts.testStored}</button></div>
</form>`,
  };
}

export async function showDeleteProvider(context: UserPageContext): Promise<Page> {
  const { id, name } = await readProviderOf(context);
  return renderDelete(context, id, name, NO_ERRORS);
}

function renderDelete({ csrfField, texts: all }: UserPageContext, id: string, name: string, errors: FormErrors): Page {
  const texts = all.providers;
  return {
    title: texts.deleteTitle(name),
    breadcrumb: { href: `/admin/providers/${id}`, text: name },
    body: html`<form class="panel gap narrow" method="post" action="/admin/providers/${id}/delete">${csrfField}
${renderFormError(errors, all)}
<p>${texts.deleteText(name)}</p>
<div class="do"><button class="danger">${texts.delete}</button><a class="button quiet" href="/admin/providers/${id}">${all.forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteProvider(context: UserPageContext): Promise<Page | Redirect> {
  const { id, name } = await readProviderOf(context);
  const result = await context.actions.deleteProvider(context.session, { id });
  if (needsConfirmation(result)) return askToConfirm(context, `/admin/providers/${id}/delete`);
  if (!result.success)
    return { ...renderDelete(context, id, name, toFormErrors(result, context.texts)), status: toStatus(result) };
  return redirect('/admin/providers', context.texts.providers.deleted);
}
