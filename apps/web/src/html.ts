import { html as hono, raw as honoRaw } from 'hono/html';

/** Markup. Any other value that is put into a template is escaped, so text of users stays text. */
export type Html = ReturnType<typeof honoRaw>;

type Value = Html | string | number | false | null | undefined | readonly Value[];

/** Builds markup from a template. `false`, `null` and `undefined` are left out, lists are joined. */
export const html = (strings: TemplateStringsArray, ...values: Value[]): Html => hono(strings, ...values) as Html;

/** Marks text as markup. Only for text that this application has made. */
export const raw = (text: string): Html => honoRaw(text);

export const EMPTY = raw('');
