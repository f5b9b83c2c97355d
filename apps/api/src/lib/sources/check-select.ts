import { compile } from 'css-select';

const POINTER = /^(?:[^~]|~[01])*$/;

/** Returns the problem of a JSON Pointer or CSS selector, or null. */
export function checkSelect(select: string): string | null {
  if (select.startsWith('/')) return POINTER.test(select) ? null : 'must be a JSON Pointer, such as /items/0/price';
  try {
    compile(select);
    return null;
  } catch {
    return 'must be a CSS selector, such as #price, or a JSON Pointer, such as /items/0/price';
  }
}
