import { renderTick } from '../../../components/choices.ts';
import { renderFieldError, renderInput, renderSelect } from '../../../components/fields.ts';
import { describeSettings } from '../../../components/task-settings.ts';
import { type Html, html, raw } from '../../../html.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { SectionProps } from '../settings/section-props.ts';
import { EMPTY_SOURCE, MAX_SOURCES, type SourceValues } from './source-values.ts';

/** What Carillon reads before each run, with what the model will get of it. */
export function renderSources(props: SectionProps): Html {
  const { values, formData, errors, looked, now, texts } = props;
  const { taskForm } = texts;
  const { task } = formData;
  const action = `${task ? `/tasks/${task.id}/edit` : '/tasks/new'}#sources`;
  const isOpen = values.sources.length > 0 || errors.fields.sources !== undefined || looked !== undefined;
  const { settings } = readSettings(values, task, texts);
  const said = describeSettings(settings, { now, timeZone: values.timezone, texts }).filter(
    ({ group }) => group === 'sources',
  );
  const first = values.sources.length > 0 ? values.sources : [EMPTY_SOURCE];
  const others = Array.from({ length: Math.max(0, MAX_SOURCES - first.length) }, () => EMPTY_SOURCE);
  return html`<div class="groups"><details id="sources"${isOpen && raw(' open')}${errors.fields.sources && raw(' aria-describedby="sources-error"')}><summary><b>${taskForm.sourcesTitle}</b> <span class="said">${
    said.length === 0 ? taskForm.sourcesNone : said.map(({ words }, at) => html`${at > 0 && ' · '}${words}`)
  }</span></summary>
<div class="gap"><p class="hint">${taskForm.sourcesHint}</p>
${renderFieldError('sources', errors)}
${first.map((source, at) => renderSource(source, at, props))}
${
  others.length > 0 &&
  html`<details><summary>${taskForm.moreSources}</summary><div class="gap">${others.map((source, at) => renderSource(source, first.length + at, props))}</div></details>`
}
<div><button name="action" value="look" formnovalidate formaction="${action}" hx-post="/tasks/new/look" hx-target="#looked" hx-swap="innerHTML">${taskForm.look}</button></div>
<div class="gap" id="looked" aria-live="polite">${looked}</div>
<div class="ticks">${renderTick('onlyChanged', values.onlyChanged, taskForm.onlyChanged, taskForm.onlyChangedHint)}</div></div></details></div>`;
}

function renderSource(source: SourceValues, at: number, { formData, texts }: SectionProps): Html {
  const { taskForm } = texts;
  const { canSearch, secrets } = formData;
  const id = (name: string) => ({ name, id: at === 0 ? name : `${name}-${at + 1}` });
  const kinds = (['page', 'search'] as const).map((value) => ({ value, text: taskForm.sourceKinds[value] }));
  const isSearch = source.kind === 'search';
  const plain = raw('spellcheck="false" autocapitalize="off"');
  const choices = [
    { value: '', text: taskForm.noSecret },
    ...secrets.map(({ name, host }) => ({ value: name, text: `${name} (${host})` })),
    ...(source.secret === '' || secrets.some(({ name }) => name === source.secret)
      ? []
      : [{ value: source.secret, text: source.secret }]),
  ];
  return html`<div class="source gap"><div class="sentence">${
    canSearch || isSearch
      ? renderSelect({ ...id('sourceKind'), label: taskForm.sourceKind, options: kinds, value: source.kind })
      : html`<input type="hidden" name="sourceKind" value="page">`
  }<div class="wide">${renderInput({
    ...id('sourceAddress'),
    label: canSearch || isSearch ? taskForm.sourceAddressOrWords : taskForm.sourceAddress,
    value: source.address,
    autocomplete: 'off',
    attributes: html`maxlength="2048" ${plain}`,
  })}</div></div>
<details${(source.select !== '' || source.secret !== '') && raw(' open')}><summary>${taskForm.sourceDetails}</summary><div class="gap">${renderInput(
    {
      ...id('sourceSelect'),
      label: taskForm.sourceSelect,
      value: source.select,
      autocomplete: 'off',
      attributes: html`maxlength="500" class="code" ${plain}`,
      hint: taskForm.sourceSelectHint,
    },
  )}${renderInput({
    ...id('sourceName'),
    label: taskForm.sourceName,
    value: source.name,
    autocomplete: 'off',
    attributes: html`maxlength="32" ${plain}`,
    hint: taskForm.sourceNameHint,
  })}${
    choices.length > 1
      ? renderSelect({ ...id('sourceSecret'), label: taskForm.sourceSecret, options: choices, value: source.secret })
      : html`<input type="hidden" name="sourceSecret" value=""><p class="hint">${taskForm.sourceSecretHint(html`<a href="/settings/secrets">${texts.secrets.title}</a>`)}</p>`
  }</div></details></div>`;
}
