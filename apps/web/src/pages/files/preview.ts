import type { Page } from '../../answer.ts';
import { formatBytes } from '../../components/format.ts';
import { html } from '../../html.ts';
import type { SignedInVisit } from '../../visit.ts';
import { describeKind, findFile, findPreview } from './file.ts';

/** An image on a page of its own. */
export async function showPreview(visit: SignedInVisit): Promise<Page> {
  const file = await findFile(visit);
  const { name, size, url } = file;
  const path = findPreview(visit, file);
  return {
    title: name,
    crumb: { href: '/files', text: 'Files' },
    lead: `${describeKind(file)}, ${formatBytes(size)}`,
    aside: url === null ? undefined : html`<a class="button" href="${url}">Download</a>`,
    body: path
      ? html`<p class="preview"><img src="${path}" alt="${name}"></p>`
      : html`<div class="panel empty"><p>There is no preview of this file.</p></div>`,
  };
}
