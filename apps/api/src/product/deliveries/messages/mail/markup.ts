import { html as hono, raw } from 'hono/html';

/** HTML. Any other value that is put into a template is escaped. */
export type Markup = ReturnType<typeof raw>;

type Value = Markup | string | number | false | null | readonly Value[];

/** Builds HTML from a template. `false` and `null` are left out, lists are joined. */
export const markup = (strings: TemplateStringsArray, ...values: Value[]): Markup => hono(strings, ...values) as Markup;

/** Marks text as HTML. Only for what this module has made. */
export const trusted = (text: string): Markup => raw(text);
