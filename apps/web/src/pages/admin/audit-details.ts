import type { Texts } from '@carillon/texts';
import type { UserPageContext } from '../../page.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** A text by a name that may come from a visitor. */
const findText = (texts: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined;

/** An event in words; the kind itself for an unknown one. */
export const describeEvent = ({ audit }: Texts, kind: string): string =>
  findText(audit.events, kind) ?? findText(audit.activities, kind) ?? kind;

/** `Trial ends`; for an unknown field, its name in words. */
const describeField = ({ audit }: Texts, name: string): string =>
  findText(audit.fields, name) ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function describeValue(context: UserPageContext, name: string, value: unknown): string {
  const { texts } = context;
  const { audit, formats, runs } = texts;
  if (value === null || value === undefined || value === '') return audit.empty;
  if (typeof value === 'boolean') return value ? runs.yes : runs.no;
  if (Array.isArray(value)) return value.map((item) => describeValue(context, name, item)).join(', ');
  if (typeof value !== 'string') return JSON.stringify(value);
  if (name === 'changed') return describeField(texts, value);
  if (INSTANT.test(value)) return formats.momentLabel(new Date(value), context);
  const values: Readonly<Record<string, Readonly<Record<string, string>>>> = audit.values;
  return (Object.hasOwn(values, name) ? findText(values[name] ?? {}, value) : undefined) ?? value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One line for each value: `Role: user → administrator` for a change, and `Coupon: 7` for anything else. */
export function describeDetails(context: UserPageContext, details: Readonly<Record<string, unknown>>): string[] {
  const { texts } = context;
  const { before, after, ...rest } = details;
  const describe = ([name, value]: [string, unknown]) =>
    texts.audit.value(describeField(texts, name), describeValue(context, name, value));
  const others = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(describe);
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    const values = (name: string) =>
      [describeValue(context, name, before[name]), describeValue(context, name, after[name])] as const;
    return [...others, ...changed.map((name) => texts.audit.change(describeField(texts, name), ...values(name)))];
  }
  const side = isObject(before) ? before : isObject(after) ? after : {};
  return [...others, ...Object.entries(side).map(describe)];
}
