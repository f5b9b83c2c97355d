import type { WebActionData } from '../../../actions.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../../components/tables.ts';
import { html } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../../page.ts';
import { askToConfirm, needsConfirmation, readFormValues, renderKept } from '../requests.ts';
import { renderSections } from '../sections.ts';
import {
  EMPTY_PROVIDER,
  FIELDS,
  type ProviderValues,
  readProvider,
  renderProviderFields,
  type Tested,
  toInput,
} from './form.ts';

type Providers = WebActionData<'listProviders'>;

export async function showProviders(context: UserPageContext): Promise<Page> {
  const { actions, session } = context;
  const { providers: texts } = context.texts;
  const { providers, hasDefault } = unwrap(await actions.listProviders(session, {}));
  return {
    title: texts.title,
    subtitle: texts.subtitle,
    aside: html`<a class="button primary" href="/admin/providers/new">${texts.add}</a>`,
    body: html`${renderSections(context.texts, '/admin/providers')}${
      providers.length === 0
        ? html`<div class="rows empty"><p>${texts.none}</p><p><a class="button" href="/admin/providers/new">${texts.addFirst}</a></p></div>`
        : renderProviders(context, providers, hasDefault)
    }`,
  };
}

function renderProviders(context: UserPageContext, providers: Providers['providers'], hasDefault: boolean) {
  const { providers: texts } = context.texts;
  return renderTable(
    texts.caption,
    [{ head: texts.name }, { head: texts.address }, { head: texts.key }, { head: texts.atOnce, class: 'num' }],
    providers.map(({ id, name, baseUrl, hasApiKey, maxConcurrent, source }, at) =>
      renderRow(
        renderRowHead(
          html`<a href="/admin/providers/${id}">${name}</a><span class="sub">${hasDefault && at === 0 ? texts.isDefault : texts.models(name)}</span>`,
        ),
        renderCell(
          html`${baseUrl}${source === 'environment' && html`<span class="sub">${texts.byEnvironment}</span>`}`,
        ),
        renderCell(hasApiKey ? texts.stored : texts.noKey, { label: texts.key }),
        renderCell(maxConcurrent === null ? texts.noLimit : String(maxConcurrent), {
          class: 'num',
          label: texts.atOnce,
        }),
      ),
    ),
  );
}

export async function showNewProvider(context: UserPageContext): Promise<Page> {
  const kept = readFormValues(context, FIELDS);
  const { providers } = unwrap(await context.actions.listProviders(context.session, {}));
  const isFirst = providers.length === 0;
  const values = kept ?? { ...EMPTY_PROVIDER, isDefaultModel: isFirst ? 'on' : '' };
  return renderNew(context, values, { isKept: kept !== null, isFirst });
}

export async function createProvider(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session } = context;
  const form = readForm(context.request);
  const values = readProvider(form);
  const input = toInput(values, form.text('apiKey'));
  if (form.text('action') === 'test') {
    const result = await actions.testProvider(session, { ...input, model: values.model });
    if (needsConfirmation(result)) return askToConfirm(context, '/admin/providers/new', values);
    if (result.success) return renderNew(context, values, { tested: result.data });
    return { ...renderNew(context, values, { errors: toFormErrors(result, context.texts) }), status: toStatus(result) };
  }
  const result = await actions.createProvider(session, {
    ...input,
    ...(values.isDefaultModel !== '' && values.model !== '' && { modelOfNewTasks: values.model }),
  });
  if (needsConfirmation(result)) return askToConfirm(context, '/admin/providers/new', values);
  if (result.success) return redirect('/admin/providers', context.texts.providers.added(result.data.name));
  return { ...renderNew(context, values, { errors: toFormErrors(result, context.texts) }), status: toStatus(result) };
}

interface Shown {
  errors?: FormErrors;
  tested?: Tested | null;
  isKept?: boolean;
  isFirst?: boolean;
}

function renderNew(
  context: UserPageContext,
  values: ProviderValues,
  { errors = NO_ERRORS, tested = null, isKept = false, isFirst = false }: Shown,
): Page {
  const { providers: texts, forms } = context.texts;
  return {
    title: isFirst ? texts.firstTitle : texts.add,
    breadcrumb: { href: '/admin/providers', text: texts.title },
    subtitle: isFirst ? texts.firstSubtitle : texts.newSubtitle,
    body: html`${renderKept(context.texts, isKept)}<form class="panel gap narrow" method="post" action="/admin/providers/new">${context.csrfField}
${renderProviderFields(context, values, errors, { hasKey: false, tested, isNew: true })}
<div class="do"><button class="primary" name="action" value="save">${texts.create}</button><button name="action" value="test">${texts.test}</button><a class="button quiet" href="${isFirst ? '/' : '/admin/providers'}">${isFirst ? texts.later : forms.cancel}</a></div>
<p class="hint">${texts.keyAgain}</p>
</form>`,
  };
}
