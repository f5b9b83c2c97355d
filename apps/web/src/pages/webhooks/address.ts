/** The host alone names a webhook: the rest of its address may contain a secret of the receiver. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
