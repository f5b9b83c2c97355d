import { create } from 'content-disposition';

/**
 * `Content-Disposition` of a file that is saved under `name` and never shown in place (RFC 6266): any name gives a value
 * that a header may hold.
 */
export const attachment = (name: string): string => create(name.toWellFormed().replaceAll(/\p{Cc}/gu, '_'));
