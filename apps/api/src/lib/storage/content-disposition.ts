import { create } from 'content-disposition';

/** `Content-Disposition` of a download (RFC 6266). Any name gives a valid header. */
export const buildContentDisposition = (name: string): string =>
  create(name.toWellFormed().replaceAll(/\p{Cc}/gu, '_'));
