import type { WebActionData } from '../../actions.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';

type Listed = WebActionData<'listTaskVersions'>;

/** The versions of a task, newest first. */
export async function showVersions(context: UserPageContext): Promise<Page> {
  const id = readId(context);
  const { cursor } = readQuery(context.request);
  const listed = unwrap(await context.actions.listTaskVersions(context.session, { id, ...(cursor && { cursor }) }));
  const { task, versions: rows, nextCursor } = listed;
  const { texts } = context;
  const { versions } = texts;
  const columns = [versions.title, versions.changedAt, versions.way, versions.changes].map((head) => ({ head }));
  return {
    title: versions.title,
    breadcrumb: { href: `/tasks/${task.id}`, text: task.name },
    subtitle: versions.subtitle,
    body: html`${renderTable(
      versions.title,
      columns,
      rows.map((version) => renderVersionRow(context, task, version)),
    )}${
      (cursor || nextCursor !== null) &&
      renderPager({
        path: `/tasks/${task.id}/versions`,
        query: { cursor },
        nextCursor,
        text: versions.all(task.version),
        texts,
      })
    }`,
  };
}

function renderVersionRow(
  context: UserPageContext,
  task: Listed['task'],
  { number, at, via, fields }: Listed['versions'][number],
): Html {
  const { versions, formats } = context.texts;
  const isCurrent = number === task.version;
  const changes = fields.map((field) => versions.fields[field]);
  return renderRow(
    renderRowHead(
      html`<a href="/tasks/${task.id}/versions/${number}">${versions.version(number)}</a>${isCurrent && html`<span class="sub">${versions.current}</span>`}`,
    ),
    renderCell(renderMoment(at, context)),
    renderCell(versions.ways[via]),
    renderCell(number === 1 ? versions.created : changes.length === 0 ? versions.nothing : formats.list(changes), {
      class: 'whole',
    }),
  );
}
