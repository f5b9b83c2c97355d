import { TEMPLATE_CATEGORIES } from '@carillon/contract/tasks/templates';
import { type FormErrors, NO_ERRORS, renderField, renderTextarea } from '../../components/fields.ts';
import { type Html, html, raw } from '../../html.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';
import { renderProblems } from '../task-form/problems.ts';
import { renderCards } from './cards.ts';

/** `text`: a template that was refused. */
export async function renderTemplates(
  context: UserPageContext,
  errors: FormErrors = NO_ERRORS,
  text = '',
): Promise<Page> {
  const { actions, session, texts } = context;
  const { templates, missing } = unwrap(await actions.listTemplates(session, {}));
  const sections = TEMPLATE_CATEGORIES.map((category) => {
    const found = templates.filter((template) => template.category === category);
    return (
      found.length > 0 &&
      html`<section class="gap" aria-labelledby="${category}"><h2 id="${category}">${texts.templates.categories[category]}</h2>${renderCards(found, missing, texts)}</section>`
    );
  });
  return {
    title: texts.templates.title,
    breadcrumb: { href: '/tasks', text: texts.navigation.tasks },
    subtitle: texts.templates.subtitle,
    status: errors === NO_ERRORS ? 200 : 422,
    body: html`${renderProblems(errors, texts.templates.notOpened)}${sections}${renderFileForm(context, errors, text)}`,
  };
}

const renderFileForm = ({ csrfField, texts: { templates } }: UserPageContext, errors: FormErrors, text: string): Html =>
  html`<section class="gap" aria-labelledby="from-file"><h2 id="from-file">${templates.fromFile}</h2>
<form class="panel gap" method="post" action="/templates" enctype="multipart/form-data">${csrfField}
<p class="hint">${templates.fromFileHint}</p>
${renderField({ name: 'file', label: templates.file, errors }, (attributes) => html`<input ${attributes} type="file" accept=".json,application/json">`)}
${renderTextarea({ name: 'text', label: templates.text, value: text, rows: 4, attributes: raw('spellcheck="false" class="code"'), errors })}
<div class="do"><button>${templates.open}</button></div>
</form></section>`;
