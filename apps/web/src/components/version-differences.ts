import type { VERSION_FIELDS } from '@carillon/contract/tasks/versions';
import { RESTORED_FIELDS } from '@carillon/contract/tasks/versions';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../actions.ts';
import { type Html, html } from '../html.ts';
import { renderDifferences } from './differences.ts';
import { renderCell, renderRow, renderRowHead, renderTable } from './tables.ts';

type VersionPage = WebActionData<'getTaskVersion'>;
export type VersionSettings = VersionPage['version']['task'];
type Field = (typeof RESTORED_FIELDS)[number];
export type VersionField = (typeof VERSION_FIELDS)[number];
type Names = VersionPage['names'];

/** These are shown with their changes in words. */
const TEXTS: readonly Field[] = ['prompt', 'outputSchema'];

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What differs between two versions. */
export const listChanges = (before: VersionSettings, after: VersionSettings): Field[] =>
  RESTORED_FIELDS.filter((field) => !isEqual(before[field], after[field]));

/** The changed texts with their differences in words, and the other settings before and after. */
export function renderVersionDifferences(
  texts: Texts,
  names: Names,
  before: VersionSettings,
  after: VersionSettings,
): Html {
  const { versions } = texts;
  const changed = listChanges(before, after);
  const rows = changed
    .filter((field) => !TEXTS.includes(field))
    .map((field) =>
      renderRow(
        renderRowHead(versions.fields[field], { class: 'whole tight' }),
        renderCell(describeValue(texts, names, field, before), { class: 'whole', label: `${versions.before}:` }),
        renderCell(describeValue(texts, names, field, after), { class: 'whole', label: `${versions.after}:` }),
      ),
    );
  const columns = [versions.setting, versions.before, versions.after].map((head) => ({ head }));
  return html`${changed
    .filter((field) => TEXTS.includes(field))
    .map(
      (field) =>
        html`<h3>${versions.fields[field]}</h3><div class="panel gap">${renderDifferences(toLines(before[field]), toLines(after[field]), texts)}</div>`,
    )}${rows.length > 0 && renderTable(versions.changes, columns, rows)}`;
}

/** All that a version has. */
export function renderVersion(texts: Texts, names: Names, settings: VersionSettings): Html {
  const { versions } = texts;
  const { prompt, outputSchema } = settings;
  const rows = RESTORED_FIELDS.filter((field) => !TEXTS.includes(field)).map(
    (field) => html`<dt>${versions.fields[field]}</dt><dd>${describeValue(texts, names, field, settings)}</dd>`,
  );
  const text = (id: string, label: string, content: string) =>
    html`<h3 id="${id}">${label}</h3><pre tabindex="0" role="group" aria-labelledby="${id}">${content}</pre>`;
  return html`${text('version-prompt', versions.fields.prompt, prompt)}${
    outputSchema !== null && text('version-schema', versions.fields.outputSchema, JSON.stringify(outputSchema, null, 2))
  }<dl class="facts">${rows}</dl>`;
}

const toLines = (value: unknown): string[] =>
  value === null ? [] : (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n');

function describeValue(texts: Texts, names: Names, field: Field, settings: VersionSettings): Html | string {
  const { versions, formats, taskSettings } = texts;
  const list = (items: readonly (Html | string)[]): Html | string =>
    items.length === 0 ? versions.none : html`${items.map((item) => html`<div>${item}</div>`)}`;
  const nameOf = (id: string | number) => names[id] ?? html`<span class="muted">${versions.lost}</span>`;
  switch (field) {
    case 'temperature':
      return (settings.temperature / 100).toFixed(2);
    case 'timeoutMs':
      return settings.timeoutMs === null ? versions.default : formats.duration(settings.timeoutMs);
    case 'context': {
      const { clock, previousResult } = settings.context;
      if (clock) return previousResult ? taskSettings.clockAndAnswer : versions.default;
      return previousResult ? taskSettings.onlyAnswer : taskSettings.onlyPrompt;
    }
    case 'inputs':
      return list(settings.inputs.map(({ taskId, name }) => html`<code>${name}</code> ${nameOf(taskId)}`));
    case 'sources':
      return list(
        settings.sources.map(
          ({ name, url, search = '' }) => html`<code>${name}</code> ${url ?? versions.searchFor(search)}`,
        ),
      );
    case 'runIf':
      return versions.runIf[settings.runIf];
    case 'tools':
      return list(settings.tools.map((tool) => taskSettings.toolNames[tool] ?? tool));
    case 'requireTools':
      return settings.requireTools ? versions.yes : versions.no;
    case 'attachments':
    case 'channels':
      return list(settings[field].map(nameOf));
    case 'fallbackModels':
      return list(settings.fallbackModels);
    case 'maxTokens':
    case 'maxRetries':
    case 'maxToolUses':
      return formats.number(settings[field]);
    default:
      return String(settings[field]);
  }
}
