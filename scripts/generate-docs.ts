import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generatePages } from './generated-docs.ts';

for (const [path, page] of Object.entries(await generatePages())) {
  writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), page);
}
