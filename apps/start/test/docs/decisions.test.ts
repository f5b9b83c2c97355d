import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listPages, ROOT, readPage } from './pages.ts';

const pages = listPages().filter((path) => path.startsWith('docs/decisions/') && !path.endsWith('/README.md'));

for (const path of pages) {
  t.test(`every test and source file that ${path} names exists`, async (t) => {
    const paths = [...readPage(path).matchAll(/`((?:apps|packages|scripts)\/[\w./-]+)`/g)].map(([, file = '']) => file);
    t.ok(paths.length > 0);
    for (const file of paths) t.ok(existsSync(join(ROOT, file)), file);
  });
}
