import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateClientFiles } from './generated-client.ts';
import { generatePages } from './generated-docs.ts';

for (const [path, text] of Object.entries({ ...(await generatePages()), ...(await generateClientFiles()) })) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
