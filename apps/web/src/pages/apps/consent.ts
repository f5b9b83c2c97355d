import { CONSENT_PRESETS } from '@carillon/contract/actions/web/settings';
import type { WebActionData } from '../../actions.ts';
import { renderRadios } from '../../components/choices.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderCurrentPassword,
  renderFormError,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { buildAddress } from '../../components/tables.ts';
import { type Html, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describePermissions } from './permissions.ts';

type Opened = WebActionData<'openConsent'>;
type Asked = Extract<Opened, { kind: 'asked' }>;
type Refused = Extract<Opened, { kind: 'refused' }>;

const readSearch = ({ request }: UserPageContext): string => request.url.slice(request.url.indexOf('?') + 1);

/** Asks the user whether a program may use the account. */
export const showConsent = (context: UserPageContext): Promise<Page | Redirect> => renderConsent(context, NO_ERRORS);

async function renderConsent(context: UserPageContext, errors: FormErrors): Promise<Page | Redirect> {
  const { actions, session } = context;
  const opened = unwrap(await actions.openConsent(session, { search: readSearch(context) }));
  if (opened.kind === 'refused') return renderRefused(context, opened);
  const need = await findNeed(context);
  return need === 'factor' ? askToConfirm(context) : renderForm(context, opened, errors, need === 'password');
}

/** What the session lacks: it was opened, or confirmed, more than 15 minutes ago. */
async function findNeed({ actions, session }: UserPageContext): Promise<'password' | 'factor' | null> {
  const found = unwrap(await actions.getConfirmation(session, {}));
  if (found.confirmedUntil !== null && found.mayChangeFactors) return null;
  return found.hasPassword && found.factorKinds.length === 0 ? 'password' : 'factor';
}

/** Leads back to the program's request. */
const askToConfirm = ({ request }: UserPageContext): Redirect =>
  redirect(buildAddress('/settings/confirm', { next: request.url }));

function renderForm(context: UserPageContext, asked: Asked, errors: FormErrors, asksPassword: boolean): Page {
  const { csrfField, request, texts, viewer } = context;
  const { apps } = texts;
  const { name, isLocal, isConnected, presets } = asked;
  const choices = presets.map(({ preset, scopes }) => ({
    value: preset,
    text: apps.presets[preset].text,
    hint:
      preset === 'everything'
        ? apps.presets.everything.hint(describePermissions(texts, scopes))
        : apps.presets[preset].hint,
  }));
  const chosen = presets.some(({ preset }) => preset === 'run') ? 'run' : (presets[0]?.preset ?? 'look');
  return {
    title: apps.connectTitle(name),
    subtitle: apps.asks(name),
    body: html`<form class="panel gap narrow" method="post" action="${request.url}">${csrfField}
${renderFormError({ ...errors, fields: {} }, texts)}
<dl class="facts"><dt>${apps.program}</dt><dd>${apps.ownName(html`<b>${name}</b>`)}</dd>
<dt>${apps.returnsTo}</dt><dd>${renderPlace(context, asked)}</dd>
<dt>${apps.account}</dt><dd>${viewer.email}</dd></dl>
${isLocal && html`<div class="notice warn"><p>${apps.localWarning}</p></div>`}
${isConnected && html`<div class="notice info"><p>${apps.replaces(name)}</p></div>`}
${renderRadios({ name: 'preset', legend: apps.mayDo, choices, value: chosen, errors })}
${asksPassword && renderCurrentPassword(texts, errors)}
<div class="do"><button class="primary" name="answer" value="allow">${apps.allow}</button><button class="quiet" name="answer" value="refuse" formnovalidate>${apps.refuse}</button></div>
<p class="hint">${apps.endsAnyTime((text) => html`<a href="/settings/apps">${text}</a>`)}</p></form>`,
  };
}

/** Where the browser goes next. A scheme ends with a colon, as `cursor:`. */
function renderPlace({ texts: { apps } }: UserPageContext, { host, isLocal }: Pick<Asked, 'host' | 'isLocal'>): Html {
  if (isLocal) return html`${apps.thisComputer}`;
  return host.endsWith(':') ? html`${apps.byScheme(html`<b>${host}</b>`)}` : html`<b>${host}</b>`;
}

export async function answerConsent(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, request, session, texts } = context;
  const form = readForm(request);
  const isAllowed = form.text('answer') !== 'refuse';
  const preset = CONSENT_PRESETS.find((one) => one === form.text('preset'));
  if (isAllowed && preset === undefined) return renderConsent(context, NO_ERRORS);
  if (isAllowed && (await findNeed(context)) === 'factor') return askToConfirm(context);
  const currentPassword = form.optional('currentPassword');
  const result = await actions.answerConsent(session, {
    search: readSearch(context),
    preset: isAllowed && preset !== undefined ? preset : null,
    ...(currentPassword !== undefined && { currentPassword }),
  });
  if (!result.success) {
    const page = await renderConsent(context, toFormErrors(result, texts));
    return 'to' in page ? page : { ...page, status: toStatus(result) };
  }
  if (result.data.kind === 'refused') return renderRefused(context, result.data);
  return renderWayBack(context, result.data, isAllowed);
}

type Answered = Extract<WebActionData<'answerConsent'>, { kind: 'answered' }>;

/** A page instead of a redirect: browsers check the policy of a form for every address that it leads to. */
function renderWayBack(context: UserPageContext, answered: Answered, isAllowed: boolean): Page {
  const { reply, texts } = context;
  const { name, to } = answered;
  reply.header('refresh', `0;url=${to}`);
  return {
    title: isAllowed ? texts.apps.connectedTitle(name) : texts.apps.refusedTitle(name),
    body: html`<div class="panel gap narrow"><p>${texts.apps.goOn(renderPlace(context, answered))}</p>
<div class="do"><a class="button primary" href="${to}" rel="noreferrer">${texts.apps.continue}</a></div></div>`,
  };
}

/** Nobody is sent to the address of a program that asks wrongly: it may be there to deceive. */
function renderRefused({ texts: { apps } }: UserPageContext, { reason, name, message, to }: Refused): Page {
  const program = name ?? '';
  const explanations = {
    client: apps.cannotClient,
    redirect: apps.cannotRedirect(program),
    request: apps.cannotRequest(program),
  };
  return {
    status: 400,
    title: apps.cannotTitle,
    body: html`<div class="panel gap narrow"><p>${explanations[reason]}</p>
<p class="hint">${apps.detail(html`<code>${message}</code>`)}</p>
${to !== null && html`<div class="do"><a class="button" href="${to}" rel="noreferrer">${apps.backTo(program)}</a></div>`}</div>`,
  };
}
