export const buildDataUrl = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;

export const readDataUrl = (url: string) => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
