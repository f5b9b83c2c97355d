import { readFileSync } from 'node:fs';
import type { Language } from '@carillon/contract/primitives';
import { Template } from '@carillon/contract/tasks/templates';
import { compileValidator } from '@carillon/contract/validation/validator';
import type { Caller } from '../../../context.ts';

/** Those of a category follow each other; the first of each are the most wanted. */
const IDS = [
  'morning-brief',
  'new-papers',
  'frost-and-storm',
  'my-week',
  'whats-on',
  'a-little-every-day',
  'price-and-stock',
  'second-hand',
  'jobs',
  'competitors',
  'tenders',
  'changed-terms',
  'team-week',
  'releases',
  'security',
  'homelab-health',
];

const validate = compileValidator(Template);

const TEMPLATES: Record<Language, Template[]> = { en: IDS.map(read('en')), 'pt-BR': IDS.map(read('pt-BR')) };

/** A file has what depends on the language as `{"en": …, "pt-BR": …}`, and a prompt as its lines. */
function read(language: Language) {
  return (id: string): Template => {
    const file = readFileSync(new URL(`./files/${id}.json`, import.meta.url), 'utf8');
    const template = JSON.parse(file, (key, value) => {
      const text = value !== null && Object.hasOwn(value, language) ? value[language] : value;
      return key === 'prompt' ? text.join('\n') : text;
    });
    template.task.timezone = 'UTC';
    const checked = validate(template);
    if (!checked.ok) throw new Error(`The template ${id} is not valid: ${JSON.stringify(checked.details)}`);
    return checked.value;
  };
}

/** In the language and the time zone of the account. */
export const listTemplates = ({ language, timezone }: Pick<Caller, 'language' | 'timezone'>): Template[] =>
  TEMPLATES[language].map((template) => ({ ...template, task: { ...template.task, timezone: timezone ?? 'UTC' } }));
