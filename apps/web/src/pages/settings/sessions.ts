import type { WebActionData } from '../../actions.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderSections } from './sections.ts';
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

export async function showSessions(context: UserPageContext): Promise<Page> {
  const { texts } = context;
  const { settings } = texts;
  const { sessions } = unwrap(await context.actions.listSessions(context.session, {}));
  const others = sessions.filter(({ current }) => !current).length;
  return {
    title: settings.sessions,
    subtitle: settings.sessionsText,
    aside:
      others === 0
        ? EMPTY
        : html`<form method="post" action="/settings/sessions/end-others">${context.csrfField}<button class="danger">${settings.endOthers}</button></form>`,
    body: html`${renderSections(texts, '/settings/sessions')}
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
<p class="hint">${settings.sessionsHint((text) => html`<a href="/settings#password">${text}</a>`)}</p>`,
  };
}

export async function endSession({
  actions,
  session,
  request,
  texts: { settings },
}: UserPageContext): Promise<Redirect> {
  const { id } = request.params as { id: string };
  const result = await actions.endSession(session, { id });
  const isGone = !result.success && result.code === 'NOT_FOUND';
  if (isGone) return redirect('/settings/sessions', settings.sessionMissing);
  unwrap(result);
  return redirect('/settings/sessions', settings.sessionEnded);
}

export async function endOtherSessions({ actions, session, texts: { settings } }: UserPageContext): Promise<Redirect> {
  const { ended } = unwrap(await actions.endOtherSessions(session, {}));
  return redirect('/settings/sessions', ended === 0 ? settings.noOtherSessions : settings.sessionsEnded(ended));
}
