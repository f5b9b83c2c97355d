import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packDeb } from './deb.ts';
import { packNpm } from './npm.ts';
import { DIST, ROOT, repository } from './workspace.ts';

/**
 * Packs for npm and for Debian, and writes beside the packages what belongs to a release: a CycloneDX list of all packages,
 * the notes, and the checksums of these files. Returns their paths.
 */
export function writeRelease(dist = DIST): string[] {
  const archive = packNpm(dist);
  const writeFile = (name: string, text: string) => {
    writeFileSync(join(dist, name), text);
    return join(dist, name);
  };
  const files = [archive, packDeb(archive), writeFile(`carillon-${repository.version}.cdx.json`, composeSbom(archive))];
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  files.push(writeFile(`carillon-${repository.version}.md`, composeNotes(changelog, repository.version)));
  const sums = files.map((path) => {
    const sum = createHash('sha256').update(readFileSync(path)).digest('hex');
    return `${sum}  ${basename(path)}\n`;
  });
  return [...files, writeFile('SHA256SUMS', sums.join(''))];
}

/** The section of a version, or what is unreleased if it has none yet. */
export function composeNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## \[)/m);
  const find = (name: string) => sections.find((section) => section.startsWith(`## [${name}]`));
  const section = find(version) ?? find('Unreleased');
  if (!section) throw new Error('CHANGELOG.md has no section [Unreleased].');
  // Links to pages of the repository lead nowhere from a release.
  const text = section.replace(/^.*\n/, '').replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
  return `# Carillon ${version}\n\n${text.trim()}\n`;
}

/** In the CycloneDX format, with the versions that npm installs today. */
function composeSbom(archive: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-sbom-'));
  try {
    // npm names the component like its folder.
    const own = join(folder, 'carillon');
    mkdirSync(own);
    execFileSync('tar', ['-xzf', archive, '-C', own, '--strip-components=1']);
    const lockOnly = ['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...lockOnly], { cwd: own });
    const sbom = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
    return execFileSync('npm', sbom, { cwd: own, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  for (const args of [[], ['--release']]) {
    const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/test.ts'), ...args], { stdio: 'inherit' });
    if (status !== 0) throw new Error('Not packed, because tests failed.');
  }
  for (const path of writeRelease()) console.log(path);
}
