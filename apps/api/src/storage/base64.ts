/** Types that a browser shows without running them. */
const INERT_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'application/pdf']);

export function buildDataUrl(bytes: Buffer, type: string): string {
  const isText = type.startsWith('text/') || type === 'application/json';
  const declared = isText ? 'text/plain;charset=utf-8' : INERT_TYPES.has(type) ? type : 'application/octet-stream';
  return `data:${declared};base64,${bytes.toString('base64')}`;
}

export const readDataUrl = (url: string) => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
