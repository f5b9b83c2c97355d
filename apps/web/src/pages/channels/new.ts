import { randomUUID } from 'node:crypto';
import type { ChannelKind } from '@carillon/contract/channels/channels';
import { isUuid } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { type FormErrors, NO_ERRORS, toFormErrors, toStatus } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext } from '../../page.ts';
import { renderMark } from './badges.ts';
import { type ChannelValues, createFormValues, readFormValues, renderForm, toFieldErrors, toInput } from './form.ts';
import { isKind, KIND_GUIDES, KINDS } from './kinds.ts';
import { toOptionValues } from './options.ts';

/** The kinds, each a link to its form. */
export const renderKinds = ({ channels, channelGuides }: Texts): Html =>
  html`<ul class="cards">${KINDS.map(
    (kind) =>
      html`<li><a href="/channels/new?kind=${kind}">${renderMark(kind)}<span><b>${channels.kinds[kind]}</b><span class="sub">${channelGuides.kinds[kind].summary}</span></span></a></li>`,
  )}</ul>`;

const showKinds = (texts: Texts): Page => ({
  title: texts.channels.new,
  subtitle: texts.channels.newSubtitle,
  breadcrumb: { href: '/channels', text: texts.channels.title },
  body: renderKinds(texts),
});

interface Shown {
  kind: ChannelKind;
  id: string;
  values: ChannelValues;
  errors: FormErrors;
}

function renderPage({ csrfField, texts }: UserPageContext, { kind, id, values, errors }: Shown): Page {
  const { channels, channelGuides } = texts;
  return {
    title: channels.newOfKind(channels.kinds[kind]),
    subtitle: html`<span class="kind">${renderMark(kind)}${channelGuides.kinds[kind].summary}</span>`,
    breadcrumb: { href: '/channels/new', text: channels.otherKinds },
    body: renderForm(values, errors, {
      texts,
      kind,
      action: `/channels/new?kind=${kind}`,
      hidden: html`${csrfField}<input type="hidden" name="id" value="${id}">`,
      button: channels.create,
      cancel: '/channels',
      isStored: false,
    }),
  };
}

/** The choice of a kind, or the form of the one that the address names. */
export function showNewChannel(context: UserPageContext): Page {
  const { kind = '' } = readQuery(context.request);
  if (!isKind(kind)) return showKinds(context.texts);
  const starts = KIND_GUIDES[kind].fields.flatMap(({ name, start }) => (start ? [[name, start]] : []));
  const values = createFormValues({ ...Object.fromEntries(starts), ...toOptionValues(context.timeZone) });
  return renderPage(context, { kind, id: randomUUID(), values, errors: NO_ERRORS });
}

/** The id is in the form, so that sending it twice creates one channel. */
export async function createChannel(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request, texts } = context;
  const { kind = '' } = readQuery(request);
  if (!isKind(kind)) return redirect('/channels/new');
  const form = readForm(request);
  const values = readFormValues(form);
  const id = isUuid(form.text('id')) ? form.text('id').toLowerCase() : randomUUID();
  const result = await actions.createChannel(session, { id, kind, ...toInput(kind, values) });
  if (result.success) {
    return redirect(
      `/channels/${id}`,
      result.data.isConfirmed ? texts.channels.created : texts.channels.createdUnconfirmed,
    );
  }
  if (result.code === 'CONFLICT') return redirect(`/channels/${id}`, texts.channels.createdAlready);
  const errors = toFieldErrors(texts, toFormErrors(result, texts), kind);
  return { ...renderPage(context, { kind, id, values, errors }), status: toStatus(result) };
}
