/** What a browser shows and does not run. Anything else is text, which it shall not take for more, or bytes to save. */
const SHOWN = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'application/pdf']);

/** A data URL of `bytes`. It declares texts of any kind as plain text. */
export function dataUrl(bytes: Buffer, type: string): string {
  const isText = type.startsWith('text/') || type === 'application/json';
  const declared = isText ? 'text/plain;charset=utf-8' : SHOWN.has(type) ? type : 'application/octet-stream';
  return `data:${declared};base64,${bytes.toString('base64')}`;
}

/** The bytes of a URL that `dataUrl` made. */
export const readDataUrl = (url: string) => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
