import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { quantile } from '../src/figures.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const bench = (...args: string[]) => spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });

t.test('without a name the benches are listed, and an unknown name is refused', async (t) => {
  const listed = bench();
  t.equal(listed.status, 0);
  t.match(listed.stdout, /^ {2}lateness +\S/m);
  const unknown = bench('nothing');
  t.equal(unknown.status, 1);
  t.match(unknown.stderr, 'There is no bench "nothing".');
  t.equal(unknown.stdout, listed.stdout);
});

t.test('a quantile is one of the values, the nearest rank', async (t) => {
  const values = Array.from({ length: 200 }, (_, index) => index + 1);
  t.strictSame(
    [0, 0.5, 0.95, 0.99, 1].map((q) => quantile(values, q)),
    [1, 100, 190, 198, 200],
  );
  t.equal(quantile([7], 0.5), 7);
});
