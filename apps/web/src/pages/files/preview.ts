import { html } from '../../html.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { describeKind, findFile, findPreview } from './file.ts';

/** An image on a separate page. */
export async function showPreview(context: UserPageContext): Promise<Page> {
  const file = await findFile(context);
  const { name, size, url } = file;
  const path = findPreview(context, file);
  const { files, formats } = context.texts;
  return {
    title: name,
    breadcrumb: { href: '/files', text: files.title },
    subtitle: `${describeKind(context.texts, file)}, ${formats.bytes(size)}`,
    aside: url === null ? undefined : html`<a class="button" href="${url}">${files.download}</a>`,
    body: path
      ? html`<p class="preview"><img src="${path}" alt="${name}"></p>`
      : html`<div class="panel empty"><p>${files.noPreview}</p></div>`,
  };
}
