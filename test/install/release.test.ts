import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { composeNotes, writeRelease } from '../../scripts/pack/release.ts';
import { repository } from '../../scripts/pack/workspace.ts';
import { run, succeed } from './commands.ts';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- [New](docs/new.md) things.\n\n## [1.0.0]\n\n- First.\n';

t.test('The notes are the section of the version, or what is unreleased', async (t) => {
  t.equal(composeNotes(CHANGELOG, '1.0.0'), '# Carillon 1.0.0\n\n- First.\n');
  t.equal(composeNotes(CHANGELOG, '2.0.0'), '# Carillon 2.0.0\n\n### Added\n\n- New things.\n');
});

const isDebian = (await run('sh', ['-c', 'command -v dpkg-deb'])).code === 0;
const skip = !isDebian && 'needs dpkg (apt-get install)';

t.test('A release has both packages, their parts, notes and checksums', { skip, timeout: 600_000 }, async (t) => {
  const files = writeRelease();
  const { version } = repository;
  const names = files.map((path) => path.replace(/.*\//, ''));
  t.match(names, [
    `carillon-${version}.tgz`,
    /^carillon_.*_(amd64|arm64)\.deb$/,
    `carillon-${version}.cdx.json`,
    `carillon-${version}.md`,
    'SHA256SUMS',
  ]);
  const cwd = dirname(files[0] ?? '');
  t.match(await succeed('sha256sum', ['--check', 'SHA256SUMS'], { cwd }), `carillon-${version}.md: OK`);
  const sbom = JSON.parse(readFileSync(files[2] ?? '', 'utf8'));
  t.match(sbom, { bomFormat: 'CycloneDX', metadata: { component: { name: 'carillon', version } } });
  const parts = sbom.components.map(({ name }: { name: string }) => name);
  for (const name of ['@carillon/api', 'fastify', 'undici', 'postgres']) t.ok(parts.includes(name), name);
  t.notOk(parts.includes('@scarf/scarf'));
});
