import t from 'tap';
import { generatePages } from '../../../../scripts/generated-docs.ts';
import { readPage } from './pages.ts';

for (const [path, page] of Object.entries(await generatePages())) {
  t.test(`${path} is what \`pnpm docs:generate\` writes`, async (t) => {
    t.equal(readPage(path), page);
  });
}
