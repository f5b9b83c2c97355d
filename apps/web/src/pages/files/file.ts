import { isUuid } from '@carillon/contract/validation/formats';
import type { WebActionData } from '../../actions.ts';
import { type Html, html } from '../../html.ts';
import { ActionFailed, type UserPageContext, unwrap } from '../../page.ts';

export type StoredFile = WebActionData<'getFile'>;

const KINDS: Record<string, string> = {
  'image/jpeg': 'JPEG image',
  'image/png': 'PNG image',
  'image/webp': 'WebP image',
  'image/gif': 'GIF image',
  'application/pdf': 'PDF',
  'text/plain': 'text',
  'text/markdown': 'Markdown',
  'text/csv': 'CSV table',
  'application/json': 'JSON',
};

export const describeKind = ({ type }: StoredFile): string => KINDS[type] ?? type;

/** Stops with 404 for a file that is not the visitor's. */
export async function findFile({ actions, session, request }: UserPageContext): Promise<StoredFile> {
  const { id } = request.params as { id: string };
  if (!isUuid(id)) throw new ActionFailed({ success: false, error: 'Not found', code: 'NOT_FOUND' });
  return unwrap(await actions.getFile(session, { id }));
}

/** The path of an image that this server serves: pages load nothing from other hosts. */
export function findPreview({ dashboard }: UserPageContext, { type, url }: StoredFile): string | null {
  if (!type.startsWith('image/') || url === null || !URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  return origin === new URL(dashboard.appUrl).origin && pathname.startsWith('/files/') ? pathname : null;
}

export const renderTasks = (tasks: readonly { id: number; name: string }[], hasMore: boolean): Html =>
  html`${tasks.map(({ id, name }, at) => html`${at > 0 && ', '}<a href="/tasks/${id}">${name}</a>`)}${hasMore && ' and more'}`;
