interface Named {
  url: string;
  description: string | null;
}

/** The description of a webhook, since several may have one host; else its host. */
export const nameWebhook = ({ url, description }: Named): string => description || hostOf(url);

/** Of an address only the host is shown: the rest of it may contain a secret of the receiver. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
