import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderField } from '../../components/fields.ts';
import { countWords, formatBytes } from '../../components/format.ts';
import { renderCell, renderPager, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMomentWithDistance } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { readQuery } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describeKind, findPreview, renderTasks, type StoredFile } from './file.ts';
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
  const { files, nextCursor, storage } = data;
  return {
    title: 'Files',
    subtitle: 'What your tasks can send to the model beside the prompt.',
    body: html`<div class="split"><section class="gap" aria-label="Stored files">${
      files.length > 0 ? renderTableOf(context, files) : renderEmpty(cursor !== undefined)
    }${
      (nextCursor !== null || cursor !== undefined) &&
      renderPager({
        path: PATH,
        query: { cursor },
        nextCursor,
        text: `${countWords(files.length, 'file')} on this page`,
      })
    }</section>
<aside class="gap-l" aria-label="Add files">${renderForm(context, errors)}${renderStorage(storage)}</aside></div>`,
  };
}

const COLUMNS = [
  { head: 'Name' },
  { head: 'Size', class: 'num' },
  { head: 'Uploaded' },
  { head: 'Used by' },
  { head: html`<span class="vh">Do</span>` },
];

const renderTableOf = (context: UserPageContext, files: readonly StoredFile[]) =>
  renderTable(
    'Files',
    COLUMNS,
    files.map((file) => renderFile(context, file)),
  );

function renderFile(context: UserPageContext, file: StoredFile): Html {
  const { id, name, size, uploadedAt, url, tasks, hasMoreTasks } = file;
  const hasPreview = findPreview(context, file) !== null;
  return renderRow(
    renderRowHead(
      html`${url === null ? html`<b>${name}</b>` : html`<a href="${url}">${name}</a>`}<span class="sub">${describeKind(file)}${
        hasPreview && html`, <a href="${PATH}/${id}/preview">preview<span class="vh"> of ${name}</span></a>`
      }</span>`,
    ),
    renderCell(formatBytes(size), { class: 'num' }),
    renderCell(renderMomentWithDistance(uploadedAt, context), { class: 'tight' }),
    renderCell(tasks.length > 0 ? renderTasks(tasks, hasMoreTasks) : html`<span class="muted">no task</span>`, {
      class: 'whole',
      label: 'Used by',
    }),
    renderCell(html`<a class="button danger" href="${PATH}/${id}/delete">Delete…<span class="vh"> ${name}</span></a>`, {
      class: 'whole tight',
    }),
  );
}

const renderEmpty = (hasCursor: boolean): Html =>
  hasCursor
    ? html`<div class="panel empty"><p>There are no older files.</p></div>`
    : html`<div class="panel empty"><p>Your files will stand here: images, PDFs and texts that a task sends to the model with its prompt.</p><p>Add the first one in the form of this page.</p></div>`;

const renderForm = ({ csrfField }: UserPageContext, errors: FormErrors): Html =>
  html`<section class="panel gap" aria-labelledby="add"><h2 id="add">Add files</h2>
<form class="gap" method="post" action="${PATH}" enctype="multipart/form-data">${csrfField}
${renderField(
  {
    name: 'files',
    label: 'Files',
    hint: 'Images, PDFs, texts, CSV or JSON; at most 10 MB each, and 20 MB at once.',
    errors,
  },
  (common) => html`<input ${common} type="file" multiple required accept="${ACCEPTED}">`,
)}
<button class="primary">Add files</button></form></section>`;

/** From this share on the meter changes its colour. */
const NEARLY_FULL = 0.8;

function renderStorage({ files, usedBytes, limitBytes }: WebActionData<'listFiles'>['storage']): Html {
  const text = `${formatBytes(usedBytes)} of ${formatBytes(limitBytes)}`;
  return html`<section aria-labelledby="storage"><h2 id="storage" class="head">Storage</h2>
<dl class="figures"><div><dt>Used by ${countWords(files, 'file')}</dt><dd>${formatBytes(usedBytes)}</dd>
<dd><meter min="0" max="${limitBytes}" high="${Math.round(limitBytes * NEARLY_FULL)}" optimum="0" value="${Math.min(usedBytes, limitBytes)}" aria-label="Used storage">${text}</meter>of ${formatBytes(limitBytes)} in your plan</dd></div></dl></section>`;
}

/** Stores the files of the form. Those that are refused are named, and the others stay stored. */
export async function addFiles(context: UserPageContext): Promise<Page | Redirect> {
  const { ids, problems } = await storeFiles(context);
  const stored = ids.length > 0 ? `${countWords(ids.length, 'file is', 'files are')} stored.` : '';
  if (problems.length === 0 && ids.length > 0) return redirect(PATH, stored);
  const messages = problems.length > 0 ? problems : ['Choose at least one file'];
  const page = await renderFiles(context, { fields: { files: messages }, form: null });
  const notice = stored ? html`<div class="notice info" role="status"><p>${stored}</p></div>` : EMPTY;
  return { ...page, status: 422, body: html`${notice}${page.body}` };
}
