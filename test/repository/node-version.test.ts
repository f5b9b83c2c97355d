import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

t.test('Packages are checked against the Node.js that runs the scripts', async (t) => {
  const { node } = JSON.parse(read('package.json')).devDependencies;
  t.equal(parse(read('pnpm-workspace.yaml')).nodeVersion, node);
});
