import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from '../operation.ts';
import { IdParams, ref, strictObject, stringEnum } from '../primitives.ts';
import { CreateTaskInput } from '../tasks.ts';
import { WEB_TOOLS } from './run-settings.ts';
import { Source } from './sources.ts';

/** In the order in which pages show them; `own` is a task of a user. */
export const TEMPLATE_CATEGORIES = ['news', 'everyday', 'buying', 'work', 'servers', 'own'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

export const TEMPLATE_NEEDS = ['sources', 'search', ...WEB_TOOLS] as const;
export type TemplateNeed = (typeof TEMPLATE_NEEDS)[number];

const Blank = strictObject({
  key: Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$', description: '`[key]` in the texts of `task` stands for it' }),
  label: Type.String({ minLength: 1, maxLength: 100, description: 'What to ask for' }),
  example: Type.String({ minLength: 1, maxLength: 500, description: 'What could be given' }),
});
export type Blank = Static<typeof Blank>;

const { scheduledFor: _scheduledFor, ...taskFields } = CreateTaskInput.properties;

/** The address of a source may be a blank, so it is no address yet. */
const TemplateSource = strictObject({
  ...Source.properties,
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
});

const TemplateTask = strictObject({
  ...taskFields,
  sources: Type.Optional(Type.Array(TemplateSource, { maxItems: 5 })),
});

const fields = {
  id: Type.String({ minLength: 1, maxLength: 100 }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  purpose: Type.String({ maxLength: 500, description: 'What the task is for, in a sentence' }),
  category: stringEnum(TEMPLATE_CATEGORIES, { description: '`own`: made of a task' }),
  needs: Type.Array(stringEnum(TEMPLATE_NEEDS), {
    description:
      'What the task uses: pages, feeds and data (`sources`), the search engine of the service (`search`), and tools of the provider (`web_search`, `web_fetch`)',
  }),
  blanks: Type.Array(Blank, { maxItems: 20, description: 'What to ask the user for' }),
};

/** A template of a file, which is checked whole. */
export const TemplateFile = strictObject({ ...fields, task: TemplateTask });

/** A template in an answer: the document does not repeat the fields of `createTask`. */
export const Template = Type.Object(
  {
    ...fields,
    task: Type.Unsafe<Static<typeof TemplateTask>>({
      type: 'object',
      additionalProperties: true,
      description: 'A body of `createTask` without `scheduledFor`, in whose texts `[key]` stands for a blank',
    }),
  },
  { $id: 'Template' },
);
export type Template = Static<typeof Template>;

const common = { tags: ['tasks'], security: SIGNED_IN };

export const listTemplates = {
  ...common,
  operationId: 'listTemplates',
  summary: 'List templates',
  description:
    "Returns all templates of tasks, in the language and the time zone of the caller's account. Replace each `[key]` in the texts of a `task` by what the user gives for that blank, percent-encoded within a `url`, and add `scheduledFor`.",
  response: {
    200: Type.Object({ success, templates: Type.Array(ref(Template), { description: 'All of them' }) }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

export const getTaskTemplate = {
  ...common,
  operationId: 'getTaskTemplate',
  summary: 'Get a template of a task',
  description:
    'Returns the settings of the task that differ from the defaults, for use in another account. Left out are its deliveries, attachments, secrets and dates. A source that needs a secret, or has one in its address, has a blank instead of the address.',
  params: IdParams,
  response: {
    200: Type.Object({ success, template: ref(Template) }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

const BLANK = /\[([a-z][a-z0-9_]{0,31})\]/g;

/** The keys that the texts of a value have between brackets. */
export const findKeys = (value: unknown): Set<string> =>
  new Set([...JSON.stringify(value).matchAll(BLANK)].map(([, key = '']) => key));

/** Replaces each `[key]` once, percent-encoded within an address. */
export function fillBlanks<T>(value: T, blanks: ReadonlyMap<string, string>): T {
  return fill(value, blanks, false) as T;
}

function fill(value: unknown, blanks: ReadonlyMap<string, string>, isWithinUrl: boolean): unknown {
  if (typeof value === 'string') {
    return value.replace(BLANK, (blank, key) => {
      const text = blanks.get(key);
      if (text === undefined) return blank;
      return isWithinUrl && value !== blank ? encodeURIComponent(text).replaceAll('%2F', '/') : text;
    });
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, blanks, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, blanks, key === 'url')]));
}
