import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { renderMoment } from '../../components/times.ts';
import { listChanges, renderVersion, renderVersionDifferences } from '../../components/version-differences.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type PageResponse, redirect, type UserPageContext, unwrap } from '../../page.ts';

type VersionPage = WebActionData<'getTaskVersion'>;

const open = async ({ actions, session }: UserPageContext, id: number, number: number): Promise<VersionPage> =>
  unwrap(await actions.getTaskVersion(session, { id, number }));

/** What a version changed; of the first one, all that it has. */
export async function showVersion(context: UserPageContext): Promise<Page> {
  const { task, version, before, names } = await open(context, readId(context), readId(context, 'number'));
  const { number, at, via } = version;
  const { texts } = context;
  const { versions } = texts;
  const address = `/tasks/${task.id}/versions`;
  const isCurrent = number === task.version;
  const changes = before && listChanges(before.task, version.task).length > 0;
  return {
    title: versions.version(number),
    breadcrumb: { href: address, text: versions.title },
    subtitle: html`<a href="/tasks/${task.id}">${task.name}</a> · ${renderMoment(at, context)} · ${versions.ways[via]}${isCurrent && ` · ${versions.current}`}`,
    ...(!isCurrent && { aside: html`<a class="button" href="${address}/${number}/restore">${versions.restore}</a>` }),
    body: before
      ? html`<section class="gap" aria-labelledby="changes"><h2 id="changes">${versions.since(before.number)}</h2>${
          changes ? renderVersionDifferences(texts, names, before.task, version.task) : html`<p>${versions.nothing}</p>`
        }</section>`
      : html`<section class="gap" aria-labelledby="all"><h2 id="all">${versions.hasFirst}</h2>${renderVersion(texts, names, version.task)}</section>`,
  };
}

/** Asks before a version is restored, with what that changes now. */
export async function confirmRestore(context: UserPageContext): Promise<Page> {
  return renderConfirmation(context, await open(context, readId(context), readId(context, 'number')));
}

function renderConfirmation(
  { csrfField, texts }: UserPageContext,
  { task, version, names }: VersionPage,
  errors: FormErrors = NO_ERRORS,
): Page {
  const { versions, forms } = texts;
  const { number } = version;
  const address = `/tasks/${task.id}/versions`;
  const hasChanges = listChanges(task, version.task).length > 0;
  return {
    title: versions.restoreVersion(number),
    breadcrumb: { href: address, text: versions.title },
    body: html`<form class="gap" method="post" action="${address}/${number}/restore">${csrfField}<input type="hidden" name="revision" value="${task.revision}">
${renderFormError(errors, texts)}
${
  hasChanges
    ? html`<p>${versions.restoreText(html`<b>${task.name}</b>`)}</p>
${renderVersionDifferences(texts, names, task, version.task)}`
    : html`<p>${versions.restoreSame}</p>`
}
<div class="do">${hasChanges && html`<button class="primary">${versions.restoreVersion(number)}</button>`}<a class="button quiet" href="${address}/${number}">${forms.cancel}</a></div>
</form>`,
  };
}

/** Restores the version, or says what is lost since. */
export async function restore(context: UserPageContext): Promise<PageResponse> {
  const { actions, session, texts } = context;
  const [id, number] = [readId(context), readId(context, 'number')];
  const revision = Number(readForm(context.request).text('revision')) || 0;
  const result = await actions.restoreTaskVersion(session, { id, number, revision });
  if (result.success) return redirect(`/tasks/${id}`, texts.versions.restored(number, result.data.version));
  const errors =
    result.code === 'CONFLICT' ? { fields: {}, form: texts.versions.outdated } : describeLoss(context, result);
  return { ...renderConfirmation(context, await open(context, id, number), errors), status: toStatus(result) };
}

/** Names each field that cannot be restored. */
function describeLoss({ texts }: UserPageContext, result: Parameters<typeof toFormErrors>[0]): FormErrors {
  const { fields, form } = toFormErrors(result, texts);
  const labels: Readonly<Record<string, string>> = texts.versions.fields;
  const messages = Object.entries(fields).flatMap(([field, list]) =>
    list.map((message) => `${labels[field] ?? field}: ${message}.`),
  );
  return { fields: {}, form: messages.length === 0 ? form : messages.join(' ') };
}
