import { ACCOUNTS } from './glossary/accounts.ts';
import { ANSWERS } from './glossary/answers.ts';
import { WORK } from './glossary/work.ts';

/**
 * What the fields mean that have no description of their own, for the document: one word means one thing wherever it
 * is. `parent.field` is nearer than `field`; the parent is the field, the named schema or the operation that the object
 * is of, or `body` for the whole of a request and `event` for the whole of an event.
 */
export const GLOSSARY: Record<string, string> = { ...ANSWERS, ...ACCOUNTS, ...WORK };
