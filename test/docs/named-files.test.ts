import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listPages, ROOT, readPage } from './pages.ts';

const decisions = listPages().filter((path) => path.startsWith('docs/decisions/'));

for (const path of decisions) {
  t.test(`every test and source file that ${path} names exists`, async (t) => {
    const names = [...readPage(path).matchAll(/`((?:apps|packages|scripts|test)\/[\w./-]+)`/g)].map(
      ([, name = '']) => name,
    );
    t.ok(names.length > 0);
    for (const name of names) t.ok(existsSync(join(ROOT, name)), name);
  });
}

t.test('every source file and folder that CONTRIBUTING.md names exists', async (t) => {
  const page = readPage('CONTRIBUTING.md').replaceAll(/^```.*?^```$/gms, '');
  const names = [...page.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, name = '']) => name);
  t.ok(names.length > 40);
  for (const name of new Set(names)) {
    const candidates = [name, `apps/api/src/${name}`, `apps/api/src/product/tasks/${name}`];
    t.ok(
      candidates.some((candidate) => existsSync(join(ROOT, candidate))),
      name,
    );
  }
});

t.test('the picture of the modules in CONTRIBUTING.md has every folder of the API', async (t) => {
  const [, picture = ''] = readPage('CONTRIBUTING.md').split('## Modules');
  const folders = readdirSync(join(ROOT, 'apps/api/src'), { withFileTypes: true });
  for (const { name } of folders.filter((entry) => entry.isDirectory())) {
    t.ok(picture.split('```')[1]?.includes(`${name}/`), name);
  }
});
