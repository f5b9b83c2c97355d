import type { WebActionData } from '../../actions.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describeUserAgent } from './user-agents.ts';

type Session = WebActionData<'listSessions'>['sessions'][number];

function renderSession(context: UserPageContext, session: Session): Html {
  const { id, userAgent, address, createdAt, lastUsedAt, current } = session;
  const { settings } = context.texts;
  const browser = describeUserAgent(userAgent, context.texts);
  const ip = address ?? settings.unknownIp;
  return renderRow(
    renderRowHead(html`<b>${browser}</b>${current && html` <span class="tag">${settings.thisSession}</span>`}`),
    renderCell(ip, { label: settings.ipAddress }),
    renderCell(renderMomentWithDistance(lastUsedAt, context), { label: settings.lastUsed }),
    renderCell(renderMomentWithDistance(createdAt, context), { label: settings.signedIn }),
    renderCell(
      current
        ? null
        : html`<form method="post" action="/settings/sessions/${id}/end">${context.csrfField}<button aria-label="${settings.endSession(browser, ip)}">${settings.end}</button></form>`,
      { class: 'num whole' },
    ),
  );
}

/** Where the account is signed in. */
export async function renderSessions(context: UserPageContext): Promise<Html> {
  const { settings } = context.texts;
  const { sessions } = unwrap(await context.actions.listSessions(context.session, {}));
  const others = sessions.filter(({ current }) => !current).length;
  return html`<section class="setting wide-setting" id="sessions" aria-labelledby="sessions-title">
<div class="head"><div><h2 id="sessions-title">${settings.sessions}</h2><p class="hint">${settings.sessionsText}</p></div>${
    others > 0 &&
    html`<form method="post" action="/settings/sessions/end-others">${context.csrfField}<button class="danger">${settings.endOthers}</button></form>`
  }</div>
${renderTable(
  settings.sessionsCaption,
  [
    { head: settings.browser },
    { head: settings.ipAddress },
    { head: settings.lastUsed },
    { head: settings.signedIn },
    { head: html`<span class="vh">${settings.end}</span>` },
  ],
  sessions.map((session) => renderSession(context, session)),
)}
<p class="hint">${settings.sessionsHint((text) => html`<a href="#password">${text}</a>`)}</p></section>`;
}

const PAGE = '/settings/security#sessions';

export async function endSession({
  actions,
  session,
  request,
  texts: { settings },
}: UserPageContext): Promise<Redirect> {
  const { id } = request.params as { id: string };
  const result = await actions.endSession(session, { id });
  const isGone = !result.success && result.code === 'NOT_FOUND';
  if (isGone) return redirect(PAGE, settings.sessionMissing);
  unwrap(result);
  return redirect(PAGE, settings.sessionEnded);
}

export async function endOtherSessions({ actions, session, texts: { settings } }: UserPageContext): Promise<Redirect> {
  const { ended } = unwrap(await actions.endOtherSessions(session, {}));
  return redirect(PAGE, ended === 0 ? settings.noOtherSessions : settings.sessionsEnded(ended));
}
