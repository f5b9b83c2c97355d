import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../docs/pages.ts';

const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

t.test('The Dockerfile installs with the manifest of every package of the workspace', async (t) => {
  for (const path of globSync('{packages,apps}/*/package.json', { cwd: ROOT, exclude: ['apps/bench'] })) {
    t.match(dockerfile, `COPY ${path} ${path.replace('package.json', '')}\n`);
  }
});

t.test('The labels of the image have the name and version of the package', async (t) => {
  const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  t.match(dockerfile, `ARG VERSION=${version}\n`);
  t.match(dockerfile, `org.opencontainers.image.description="${description}"`);
  for (const label of ['title', 'version', 'revision', 'base.name'])
    t.match(dockerfile, `org.opencontainers.image.${label}="`);
});

t.test('The image runs as an ordinary user', async (t) => {
  t.match(dockerfile, /^USER node$/m);
});
