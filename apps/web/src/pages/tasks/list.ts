import type { Page } from '../../answer.ts';
import { html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';

export async function showTasks({ actions, session, request }: SignedInVisit): Promise<Page> {
  const { search } = readQuery(request);
  const { tasks } = unwrap(await actions.listTasks(session, { limit: 25, offset: 0, search }));
  return { title: 'Tasks', isLive: true, body: html`<ul>${tasks.map(({ name }) => html`<li>${name}</li>`)}</ul>` };
}
