import t from 'tap';
import { generateClientFiles } from '../../scripts/generated-client.ts';
import { generatePages } from '../../scripts/generated-docs.ts';
import { readPage } from './pages.ts';

for (const [path, page] of Object.entries({ ...(await generatePages()), ...(await generateClientFiles()) })) {
  t.test(`${path} is what \`pnpm docs:generate\` writes`, async (t) => {
    t.ok(readPage(path) === page, 'run it, and commit what it writes');
  });
}
