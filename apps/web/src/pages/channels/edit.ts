import type { WebActionData } from '../../actions.ts';
import { type Page, type Redirect, redirect } from '../../answer.ts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';
import { readId } from '../webhooks/address.ts';
import { renderFacts } from './facts.ts';
import { readTyped, renderForm, startTyped, type TypedChannel, toFieldErrors, toInput } from './form.ts';
import { KIND_GUIDES } from './kinds.ts';
import { renderMark } from './marks.ts';
import { toTypedOptions } from './options.ts';

type Channel = WebActionData<'getChannel'>;

interface Shown {
  typed: TypedChannel;
  errors: FormErrors;
  /** The channel is not as it was when the form was opened. */
  isChanged: boolean;
}

/** What is saved, beside what was typed. */
const renderSaved = (visit: SignedInVisit, channel: Channel): Html => html`<aside aria-labelledby="saved">
<h2 id="saved" class="head">As it is saved now</h2>
${renderFacts(visit, channel)}
<p class="fine muted after">Saving replaces it by what stands in the form.</p>
</aside>`;

function renderPage(visit: SignedInVisit, channel: Channel, { typed, errors, isChanged }: Shown): Page {
  const { id, kind, name, revision } = channel;
  const form = renderForm(typed, errors, {
    kind,
    action: `/channels/${id}/edit`,
    hidden: html`${visit.csrfField}<input type="hidden" name="revision" value="${revision}">`,
    button: 'Save channel',
    cancel: `/channels/${id}`,
    isStored: true,
    timeZone: visit.timeZone,
  });
  return {
    title: 'Edit channel',
    lead: html`<span class="kind">${renderMark(kind)}${KIND_GUIDES[kind].title}</span>`,
    crumb: { href: `/channels/${id}`, text: name },
    body: isChanged ? html`<div class="split">${form}${renderSaved(visit, channel)}</div>` : form,
  };
}

/** The form of what is stored. Secrets are not known here. */
function toTyped({ name, settings, ...options }: Channel, timeZone: string): TypedChannel {
  const shown = Object.entries(settings).map(([field, value]) => [field, [value].flat().join('\n')]);
  return startTyped({ ...Object.fromEntries(shown), ...toTypedOptions(timeZone, options), name });
}

/** Without settings that are stored like this: encrypting them again would forget how the last attempt ended. */
function toChanges({ kind, settings }: Channel, typed: TypedChannel) {
  const input: object = toInput(kind, typed);
  return Object.fromEntries(Object.entries(input).filter(([name, value]) => value !== settings[name]));
}

export async function showEditChannel(visit: SignedInVisit): Promise<Page> {
  const channel = unwrap(await visit.actions.getChannel(visit.session, { id: readId(visit) }));
  return renderPage(visit, channel, {
    typed: toTyped(channel, visit.timeZone),
    errors: NO_ERRORS,
    isChanged: false,
  });
}

export async function changeChannel(visit: SignedInVisit): Promise<Page | Redirect> {
  const { actions, session, request } = visit;
  const id = readId(visit);
  const form = readForm(request);
  const typed = readTyped(form);
  const revision = Number(form.text('revision')) || 0;
  const channel = unwrap(await actions.getChannel(session, { id }));
  const result = await actions.changeChannel(session, { id, revision, ...toChanges(channel, typed) });
  if (result.success) {
    const asks = channel.isConfirmed && !result.data.isConfirmed;
    return redirect(
      `/channels/${id}`,
      asks ? 'The channel is saved. Its new address gets a mail with a link now.' : 'The channel is saved.',
    );
  }
  const isChanged = result.code === 'CONFLICT';
  const errors = isChanged
    ? { fields: {}, form: 'This channel was changed after you opened the form. Nothing is saved yet.' }
    : toFieldErrors(toFormErrors(result), channel.kind);
  // Without a conflict the form keeps the version that it was opened with.
  const shown = isChanged ? channel : { ...channel, revision };
  return { ...renderPage(visit, shown, { typed, errors, isChanged }), status: toStatus(result) };
}
