import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { listPages, ROOT, readPage } from './pages.ts';

/** The anchors that GitHub generates for the headings. */
function listAnchors(page: string): Set<string> {
  const headings = [...withoutBlocks(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  const plain = headings.map((heading) => heading.replaceAll('`', '').toLowerCase());
  return new Set(plain.map((text) => text.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')));
}

const withoutBlocks = (page: string) => page.replaceAll(/^```.*?^```$/gms, '');

for (const path of listPages()) {
  t.test(`every link of ${path} has a target`, async (t) => {
    for (const [, target = ''] of withoutBlocks(readPage(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const to = file === '' ? path : join(dirname(path), file);
      t.ok(existsSync(join(ROOT, to)), `${target} is there`);
      if (anchor === undefined || !statSync(join(ROOT, to)).isFile()) continue;
      t.ok(listAnchors(readPage(to)).has(anchor), `${target} is a heading`);
    }
  });
}

t.test('every page of docs/ is linked from another one', async (t) => {
  const pages = listPages();
  const linked = new Set(
    pages.flatMap((path) =>
      [...readPage(path).matchAll(/\]\(([^)#\s]+)/g)].map(([, to = '']) =>
        /^https?:/.test(to) ? to : join(dirname(path), to),
      ),
    ),
  );
  t.same(
    pages.filter((path) => path.startsWith('docs/') && !linked.has(path)),
    [],
  );
});
