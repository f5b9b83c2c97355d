import { MAX_FORM_FILE } from '@carillon/contract/actions/web/task-list';
import { translateApiMessage } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderField,
  renderFormError,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from '../../components/tables.ts';
import { renderMoment } from '../../components/times.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readFiles } from '../../http/sent-files.ts';
import { type Download, type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';

export const TASK_FILES = '/settings/tasks';

interface Input {
  text: string;
  prune: boolean;
}

type Imported = WebActionData<'importTasks'>;

const NO_INPUT: Input = { text: '', prune: false };

export const showTaskFiles = (context: UserPageContext): Page => renderPage(context, NO_INPUT, NO_ERRORS);

function renderPage(context: UserPageContext, { text, prune }: Input, errors: FormErrors, above: Html = EMPTY): Page {
  const { csrfField, texts } = context;
  const { taskFiles } = texts;
  return {
    title: taskFiles.title,
    subtitle: taskFiles.subtitle,
    breadcrumb: { href: '/settings/data', text: texts.settings.title },
    body: html`<div class="gap-l narrow">${above}
<section class="panel gap" aria-labelledby="export"><h2 id="export">${taskFiles.export}</h2>
<p>${taskFiles.exportText}</p>
<div class="do"><a class="button" href="${TASK_FILES}/tasks.yaml">${taskFiles.download}</a></div></section>
<section class="panel gap" aria-labelledby="import"><h2 id="import">${taskFiles.import}</h2>
<p>${taskFiles.importText}</p>
<form class="gap" method="post" action="${TASK_FILES}" enctype="multipart/form-data">${csrfField}
${renderFormError(errors, texts)}
${renderField({ name: 'file', label: taskFiles.file, errors }, (common) => html`<input ${common} type="file" accept=".yaml,.yml,.jsonl,.ndjson">`)}
${renderField({ name: 'text', label: taskFiles.text }, (common) => html`<textarea ${common} rows="8" spellcheck="false">${text}</textarea>`)}
<label class="check"><input type="checkbox" name="prune"${prune && raw(' checked')}><span>${taskFiles.prune}</span></label>
<div class="do"><button class="primary">${taskFiles.preview}</button></div></form>
<p class="hint">${taskFiles.more((name) => html`<code>${name}</code>`)}</p></section></div>`,
  };
}

/** Shows what the import would do, or does it if the form is the one of that page. */
export async function importTasks(context: UserPageContext): Promise<Page | Redirect> {
  const { actions, session, request, texts } = context;
  const form = readForm(request);
  const prune = form.has('prune');
  const source = readSource(context);
  if ('problem' in source) {
    const errors = { fields: { file: [source.problem] }, form: null };
    return { ...renderPage(context, { text: form.text('text'), prune }, errors), status: 422 };
  }
  const { text } = source;
  const type = text.trimStart().startsWith('{') ? 'jsonl' : 'yaml';
  const isConfirmed = form.has('confirmed');
  const result = await actions.importTasks(session, { text, type, prune, dryRun: !isConfirmed });
  const input = { text, prune };
  if (!result.success) {
    return { ...renderPage(context, input, toFormErrors(result, texts)), status: toStatus(result) };
  }
  const { errors, created, updated, deleted } = result.data;
  if (errors.length > 0) {
    return { ...renderPage(context, input, NO_ERRORS, renderProblems(context, errors)), status: 422 };
  }
  if (isConfirmed) return redirect('/tasks', texts.taskFiles.done(created, updated, deleted));
  return renderPreview(context, input, result.data);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readSource({ request, texts: { taskFiles } }: UserPageContext): { text: string } | { problem: string } {
  const [file] = readFiles(request);
  if (!file) {
    const text = readForm(request).text('text');
    if (text.trim() === '') return { problem: taskFiles.noFile };
    return text.length > MAX_FORM_FILE ? { problem: taskFiles.tooLong } : { text };
  }
  if (file.bytes === null || file.bytes.length > MAX_FORM_FILE) return { problem: taskFiles.tooLong };
  try {
    return { text: utf8.decode(file.bytes) };
  } catch {
    return { problem: taskFiles.notText };
  }
}

function renderProblems({ texts }: UserPageContext, errors: Imported['errors']): Html {
  const { taskFiles } = texts;
  const columns = [{ head: taskFiles.place }, { head: taskFiles.problem }];
  const rows = errors.map(({ line, field, message }) =>
    renderRow(
      renderRowHead(html`<b>${taskFiles.line(line)}</b> <code>${field}</code>`),
      renderCell(translateApiMessage(message, texts), { class: 'whole' }),
    ),
  );
  return html`<section class="gap" aria-labelledby="problems" role="alert"><h2 id="problems">${taskFiles.problems(errors.length)}</h2>
${renderTable(taskFiles.problems(errors.length), columns, rows)}</section>`;
}

function renderPreview(context: UserPageContext, { text, prune }: Input, found: Imported): Page {
  const { csrfField, texts } = context;
  const { taskFiles, forms } = texts;
  const { created, updated, deleted, unchanged, preview } = found;
  const counts = [
    created > 0 && taskFiles.created(created),
    updated > 0 && taskFiles.updated(updated),
    deleted > 0 && taskFiles.deleted(deleted),
    unchanged > 0 && taskFiles.unchanged(unchanged),
  ].filter((count) => count !== false);
  const isSame = created + updated + deleted === 0;
  const columns = [{ head: taskFiles.task }, { head: taskFiles.nextRuns }];
  const rows = preview.map(({ name, nextRuns }) =>
    renderRow(
      renderRowHead(html`<b>${name}</b>`),
      renderCell(
        nextRuns.length === 0
          ? taskFiles.noRuns
          : html`${nextRuns.map((at, index) => html`${index > 0 && ', '}${renderMoment(at, context)}`)}`,
        { class: 'whole', label: taskFiles.nextRuns },
      ),
    ),
  );
  return {
    title: taskFiles.previewTitle,
    subtitle: isSame ? taskFiles.nothing : texts.formats.list(counts),
    breadcrumb: { href: TASK_FILES, text: taskFiles.title },
    body: html`<div class="gap-l">${rows.length > 0 && renderTable(taskFiles.previewTitle, columns, rows)}
<form class="do" method="post" action="${TASK_FILES}" enctype="multipart/form-data">${csrfField}
<textarea name="text" hidden>
${text}</textarea>${prune && html`<input type="hidden" name="prune" value="on">`}
${!isSame && html`<button class="primary" name="confirmed" value="yes">${taskFiles.apply}</button>`}<a class="button quiet" href="${TASK_FILES}">${forms.cancel}</a></form></div>`,
  };
}

export async function downloadTasks(context: UserPageContext): Promise<Download> {
  const first = unwrap(await context.actions.readTaskFile(context.session, {}));
  return { fileName: 'tasks.yaml', type: 'application/yaml; charset=utf-8', content: readPieces(context, first) };
}

async function* readPieces({ actions, session }: UserPageContext, first: WebActionData<'readTaskFile'>) {
  yield first.text;
  for (let { after } = first; after !== null; ) {
    const piece = unwrap(await actions.readTaskFile(session, { after }));
    yield piece.text;
    after = piece.after;
  }
}
