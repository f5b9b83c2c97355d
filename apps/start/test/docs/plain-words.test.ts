import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listPages, ROOT, readPage } from './pages.ts';

/** Words that readers with English as a second language do not know or misread. */
const UNUSUAL =
  /\b(mend(s|ed)?|lest|reckon(s|ed)?|anew|whoever|somebody|nobody|anybody|hitherto|thereof|begun|alike|befalls?|nought)\b/gi;
const deploy = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(yml|yaml|conf|service|example)$|Caddyfile$/.test(name))
  .map((name) => `deploy/${name}`);

/** Code and addresses of examples are not prose. */
const removeCode = (page: string) => page.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`]*`|\S+@\S+/g, '');

for (const path of [...listPages(), ...deploy, '.env.example', 'compose.yaml', 'Dockerfile']) {
  t.test(`${path} has plain words only`, async (t) => {
    t.same(removeCode(readPage(path)).match(UNUSUAL) ?? [], []);
  });
}
