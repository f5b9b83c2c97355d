import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderMark } from './badges.ts';
import { renderFacts } from './details.ts';
import { type ChannelValues, createFormValues, readFormValues, renderForm, toFieldErrors, toInput } from './form.ts';
import { toOptionValues } from './options.ts';

type Channel = WebActionData<'getChannel'>;

interface Shown {
  values: ChannelValues;
  errors: FormErrors;
  /** The channel is not as it was when the form was opened. */
  isChanged: boolean;
}

/** What is saved, next to what was typed. */
const renderSaved = (context: UserPageContext, channel: Channel): Html => html`<aside aria-labelledby="saved">
<h2 id="saved" class="head">${context.texts.deliveries.savedVersion}</h2>
${renderFacts(context, channel)}
<p class="fine muted after">${context.texts.deliveries.savedVersionHint}</p>
</aside>`;

function renderPage(context: UserPageContext, channel: Channel, { values, errors, isChanged }: Shown): Page {
  const { id, kind, name, revision } = channel;
  const { channels } = context.texts;
  const form = renderForm(values, errors, {
    texts: context.texts,
    kind,
    action: `/channels/${id}/edit`,
    hidden: html`${context.csrfField}<input type="hidden" name="revision" value="${revision}">`,
    button: channels.save,
    cancel: `/channels/${id}`,
    isStored: true,
  });
  return {
    title: channels.edit,
    subtitle: html`<span class="kind">${renderMark(kind)}${channels.kinds[kind]}</span>`,
    breadcrumb: { href: `/channels/${id}`, text: name },
    body: isChanged ? html`<div class="split">${form}${renderSaved(context, channel)}</div>` : form,
  };
}

/** The form of what is stored. Secrets are not known here. */
function toFormValues({ name, settings, ...options }: Channel, timeZone: string): ChannelValues {
  const shown = Object.entries(settings).map(([field, value]) => [field, [value].flat().join('\n')]);
  return createFormValues({ ...Object.fromEntries(shown), ...toOptionValues(timeZone, options), name });
}

/** Without settings that are stored like this: encrypting them again would forget how the last attempt ended. */
function toChanges({ kind, settings }: Channel, values: ChannelValues) {
  const input: object = toInput(kind, values);
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== settings[name]));
}

export async function showEditChannel(context: UserPageContext): Promise<Page> {
  const channel = unwrap(await context.actions.getChannel(context.session, { id: readUuid(context) }));
  return renderPage(context, channel, {
    values: toFormValues(channel, context.timeZone),
    errors: NO_ERRORS,
    isChanged: false,
  });
}

export async function changeChannel(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request, texts } = context;
  const id = readUuid(context);
  const form = readForm(request);
  const values = readFormValues(form);
  const revision = Number(form.text('revision')) || 0;
  const channel = unwrap(await actions.getChannel(session, { id }));
  const result = await actions.changeChannel(session, { id, revision, ...toChanges(channel, values) });
  if (result.success) {
    const asks = channel.isConfirmed && !result.data.isConfirmed;
    return redirect(`/channels/${id}`, asks ? texts.channels.savedUnconfirmed : texts.channels.saved);
  }
  const isChanged = result.code === 'CONFLICT';
  const errors = isChanged
    ? { fields: {}, form: texts.channels.conflict }
    : toFieldErrors(texts, toFormErrors(result, texts), channel.kind);
  // Without a conflict the form keeps the version that it was opened with.
  const shown = isChanged ? channel : { ...channel, revision };
  return { ...renderPage(context, shown, { values, errors, isChanged }), status: toStatus(result) };
}
