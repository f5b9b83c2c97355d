import { isUuid } from '@carillon/contract/validation/formats';
import { ActionFailed, type PageContext } from '../../page.ts';

type Parameter = 'id' | 'deliveryId';

/** An id in the address of a page. Stops with the page for "not found" if nothing can have it. */
export function readId({ request }: Pick<PageContext, 'request'>, name: Parameter = 'id'): string {
  const value = (request.params as Partial<Record<Parameter, string>>)[name] ?? '';
  if (!isUuid(value)) throw new ActionFailed({ success: false, error: 'Not found', code: 'NOT_FOUND' });
  return value.toLowerCase();
}

/** The host alone names a webhook: the rest of its address may contain a secret of the receiver. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
