import { isUuid, parseId } from '@carillon/contract/validation/formats';
import { ActionFailed, type PageContext } from '../page.ts';
import { readQuery } from './forms.ts';

type Reader = Pick<PageContext, 'request'>;

const readParameter = ({ request }: Reader, name: string): string =>
  (request.params as Partial<Record<string, string>>)[name] ?? '';

const notFound = () => new ActionFailed({ success: false, error: 'Not found', code: 'NOT_FOUND' });

/** The number in the path. Stops with 404 for one that no object can have. */
export function readId(context: Reader, name: 'id' | 'number' = 'id'): number {
  const id = parseId(readParameter(context, name));
  if (id === null) throw notFound();
  return id;
}

/** The number in the query. Stops with 404 for one that no object can have. */
export function readQueryId({ request }: Reader, name: string): number | undefined {
  const text = readQuery(request)[name];
  if (text === undefined) return undefined;
  const id = parseId(text);
  if (id === null) throw notFound();
  return id;
}

/** The UUID in the path. Stops with 404 for any other text. */
export function readUuid(context: Reader, name: 'id' | 'deliveryId' = 'id'): string {
  const id = readParameter(context, name);
  if (!isUuid(id)) throw notFound();
  return id.toLowerCase();
}
