import type { WebActionData } from '../../actions.ts';
import { countWords } from '../../components/format.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderSections } from './sections.ts';
import { describeUserAgent } from './user-agents.ts';

type Session = WebActionData<'listSessions'>['sessions'][number];

function renderSession(context: UserPageContext, session: Session): Html {
  const { id, userAgent, address, createdAt, lastUsedAt, current } = session;
  const browser = describeUserAgent(userAgent);
  return renderRow(
    renderRowHead(html`<b>${browser}</b>${current && html` <span class="tag">this one</span>`}`),
    renderCell(address ?? 'unknown', { label: 'from' }),
    renderCell(renderMomentWithDistance(lastUsedAt, context), { label: 'last used' }),
    renderCell(renderMomentWithDistance(createdAt, context), { label: 'signed in' }),
    renderCell(
      current
        ? null
        : html`<form method="post" action="/settings/sessions/${id}/end">${context.csrfField}<button aria-label="End the session of ${browser}, ${address ?? 'unknown address'}">End</button></form>`,
      { class: 'num whole' },
    ),
  );
}

export async function showSessions(context: UserPageContext): Promise<Page> {
  const { sessions } = unwrap(await context.actions.listSessions(context.session, {}));
  const others = sessions.filter(({ current }) => !current).length;
  return {
    title: 'Sessions',
    subtitle: 'Browsers and programs that are signed in to your account.',
    aside:
      others === 0
        ? EMPTY
        : html`<form method="post" action="/settings/sessions/end-others">${context.csrfField}<button class="danger">End all others</button></form>`,
    body: html`${renderSections('/settings/sessions')}
${renderTable(
  'Your sessions, the last used first',
  [
    { head: 'Browser' },
    { head: 'Address' },
    { head: 'Last used' },
    { head: 'Signed in' },
    { head: html`<span class="vh">End</span>` },
  ],
  sessions.map((session) => renderSession(context, session)),
)}
<p class="hint">A session ends after 7 days, and the oldest of ten when another one begins. You do not know one of them? End it, then <a href="/settings#password">change your password</a>.</p>`,
  };
}

export async function endSession({ actions, session, request }: UserPageContext): Promise<Redirect> {
  const { id } = request.params as { id: string };
  const result = await actions.endSession(session, { id });
  const isGone = !result.success && result.code === 'NOT_FOUND';
  if (isGone) return redirect('/settings/sessions', 'That session has ended already.');
  unwrap(result);
  return redirect('/settings/sessions', 'The session is ended.');
}

export async function endOtherSessions({ actions, session }: UserPageContext): Promise<Redirect> {
  const { ended } = unwrap(await actions.endOtherSessions(session, {}));
  return redirect(
    '/settings/sessions',
    ended === 0 ? 'There was no other session.' : `${countWords(ended, 'session')} ended.`,
  );
}
