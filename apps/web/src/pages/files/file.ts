import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type Html, html } from '../../html.ts';
import { readUuid } from '../../http/path-ids.ts';
import { type UserPageContext, unwrap } from '../../page.ts';

export type StoredFile = WebActionData<'getFile'>;

export function describeKind({ files }: Texts, { type }: StoredFile): string {
  const types: Partial<Record<string, string>> = files.types;
  return types[type] ?? type;
}

/** Stops with 404 for a file that is not the visitor's. */
export async function findFile(context: UserPageContext): Promise<StoredFile> {
  const { actions, session } = context;
  return unwrap(await actions.getFile(session, { id: readUuid(context) }));
}

/** The path of an image that this server serves: pages load nothing from other hosts. */
export function findPreview({ dashboard }: UserPageContext, { type, url }: StoredFile): string | null {
  if (!type.startsWith('image/') || url === null || !URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  return origin === new URL(dashboard.appUrl).origin && pathname.startsWith('/files/') ? pathname : null;
}

export const renderTasks = ({ files }: Texts, { tasks, hasMoreTasks }: StoredFile): Html =>
  html`${tasks.map(({ id, name }, at) => html`${at > 0 && ', '}<a href="/tasks/${id}">${name}</a>`)}${hasMoreTasks && files.andMore}`;
