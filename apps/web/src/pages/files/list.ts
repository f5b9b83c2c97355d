import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderField } from '../../components/fields.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { askToDelete, deleteFile } from './delete.ts';
import { describeKind, findPreview, renderTasks, type StoredFile } from './file.ts';
import { showPreview } from './preview.ts';
import { storeFiles } from './store.ts';

const PATH = '/files';
const PAGE_SIZE = 25;
const ACCEPTED = '.jpg,.jpeg,.png,.webp,.gif,.pdf,.txt,.md,.csv,.json';

export async function showFiles(context: UserPageContext): Promise<Page> {
  return renderFiles(context, NO_ERRORS);
}

async function renderFiles(context: UserPageContext, errors: FormErrors): Promise<Page> {
  const { cursor } = readQuery(context.request);
  const data = unwrap(
    await context.actions.listFiles(context.session, { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) }),
  );
  const { files: found, nextCursor, storage } = data;
  const { texts } = context;
  const { files } = texts;
  return {
    title: files.title,
    subtitle: files.subtitle,
    body: html`<div class="split"><section class="gap" aria-label="${files.stored}">${
      found.length > 0
        ? renderTableOf(context, found)
        : html`<div class="panel empty"><p>${cursor === undefined ? files.empty : files.noOlder}</p></div>`
    }${
      (nextCursor !== null || cursor !== undefined) &&
      renderPager({
        path: PATH,
        query: { cursor },
        nextCursor,
        text: files.onPage(found.length),
        texts,
      })
    }</section>
<aside class="gap-l" aria-label="${files.add}">${renderForm(context, errors)}${renderStorage(texts, storage)}</aside></div>`,
  };
}

function renderTableOf(context: UserPageContext, found: readonly StoredFile[]): Html {
  const { files, lists } = context.texts;
  const columns = [
    { head: files.name },
    { head: files.size, class: 'num' },
    { head: files.uploaded },
    { head: files.usedBy },
    { head: html`<span class="vh">${lists.actions}</span>` },
  ];
  return renderTable(
    files.title,
    columns,
    found.map((file) => renderFile(context, file)),
  );
}

function renderFile(context: UserPageContext, file: StoredFile): Html {
  const { texts } = context;
  const { files, formats, forms } = texts;
  const { id, name, size, uploadedAt, url, tasks } = file;
  const hasPreview = findPreview(context, file) !== null;
  return renderRow(
    renderRowHead(
      html`${url === null ? html`<b>${name}</b>` : html`<a href="${url}">${name}</a>`}<span class="sub">${describeKind(texts, file)}${
        hasPreview &&
        html`, <a href="${PATH}/${id}/preview">${files.preview}<span class="vh"> ${files.previewOf(name)}</span></a>`
      }</span>`,
    ),
    renderCell(formats.bytes(size), { class: 'num' }),
    renderCell(renderMomentWithDistance(uploadedAt, context), { class: 'tight' }),
    renderCell(tasks.length > 0 ? renderTasks(texts, file) : html`<span class="muted">${files.noTask}</span>`, {
      class: 'whole',
      label: files.usedBy,
    }),
    renderCell(
      html`<a class="button danger" href="${PATH}/${id}/delete">${forms.delete}<span class="vh"> ${name}</span></a>`,
      {
        class: 'whole tight',
      },
    ),
  );
}

const renderForm = ({ csrfField, texts: { files } }: UserPageContext, errors: FormErrors): Html =>
  html`<section class="panel gap" aria-labelledby="add"><h2 id="add">${files.add}</h2>
<form class="gap" method="post" action="${PATH}" enctype="multipart/form-data">${csrfField}
${renderField(
  {
    name: 'files',
    label: files.title,
    hint: files.addHint,
    errors,
  },
  (common) => html`<input ${common} type="file" multiple required accept="${ACCEPTED}">`,
)}
<button class="primary">${files.add}</button></form></section>`;

/** From this share on the meter changes its colour. */
const NEARLY_FULL = 0.8;

function renderStorage({ files, formats }: Texts, storage: WebActionData<'listFiles'>['storage']): Html {
  const { files: count, usedBytes, limitBytes } = storage;
  const [used, limit] = [formats.bytes(usedBytes), formats.bytes(limitBytes)];
  return html`<section aria-labelledby="storage"><h2 id="storage" class="head">${files.storage}</h2>
<dl class="figures"><div><dt>${files.usedByFiles(count)}</dt><dd>${used}</dd>
<dd><meter min="0" max="${limitBytes}" high="${Math.round(limitBytes * NEARLY_FULL)}" optimum="0" value="${Math.min(usedBytes, limitBytes)}" aria-label="${files.usedStorage}">${files.usedOf(used, limit)}</meter>${files.ofPlan(limit)}</dd></div></dl></section>`;
}

/** Stores the files of the form. Those that are refused are named, and the others stay stored. */
export async function addFiles(context: UserPageContext): Promise<Page | Redirect> {
  const { files } = context.texts;
  const { ids, problems } = await storeFiles(context);
  const stored = ids.length > 0 ? files.added(ids.length) : '';
  if (problems.length === 0 && ids.length > 0) return redirect(PATH, stored);
  const messages = problems.length > 0 ? problems : [files.chooseOne];
  const page = await renderFiles(context, { fields: { files: messages }, form: null });
  const notice = stored ? html`<div class="notice info" role="status"><p>${stored}</p></div>` : EMPTY;
  return { ...page, status: 422, body: html`${notice}${page.body}` };
}

export function filePages({ user }: PageRoutes): void {
  user('GET', '/files', showFiles);
  user('POST', '/files', addFiles);
  user('GET', '/files/:id/preview', showPreview);
  user('GET', '/files/:id/delete', askToDelete);
  user('POST', '/files/:id/delete', deleteFile);
}
