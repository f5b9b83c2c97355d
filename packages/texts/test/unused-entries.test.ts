import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTexts } from '@carillon/texts';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../../..');
const IN_CATALOG = /^packages\/texts\/src\/(en|pt-BR)\//;

const sources = execFileSync('git', ['ls-files', 'apps/*/src/*.ts', 'packages/*/src/*.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((path) => !IN_CATALOG.test(path))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'));
const quoted = new Set(sources.flatMap((source) => findAll(source, /['"](\w+)['"]/g)));
const readers = sources.filter((source) => /@carillon\/texts|\btexts\b|Texts\b|\/en\/index/.test(source));

t.test('Each entry of the catalog is used', async (t) => {
  const unused = Object.entries(getTexts('en')).flatMap(([area, entries]) => {
    if (area === 'formats' || typeof entries === 'string') return [];
    const types = [`Texts\\['${area}'\\]`, ...findTypeNames(area)].join('|');
    const mention = new RegExp(`\\b(${area}|${types})(?=\\W)`);
    const used = new Set(
      readers.filter((source) => mention.test(source)).flatMap((source) => findUses(source, area, types)),
    );
    return Object.keys(entries)
      .filter((key) => !used.has(key))
      .map((key) => `${area}.${key}`);
  });
  t.strictSame(unused, []);
});

/** The keys of an area that a file reads, by the names that it gives the area or its types. */
function findUses(source: string, area: string, types: string): string[] {
  const names = [
    area,
    ...findAll(source, new RegExp(`\\b${area}: (\\w+)\\b`, 'g')),
    ...findAll(source, new RegExp(`(\\w+): (?:${types})`, 'g')),
    ...findAll(source, new RegExp(`(\\w+)\\s*=\\s*[^;\\n]*\\.${area}\\b(?!\\.)`, 'g')),
  ];
  const destructured = [
    ...findAll(source, new RegExp(`\\{([^{}]*)\\}: (?:${types})`, 'g')),
    ...names.flatMap((name) => [
      ...findAll(source, new RegExp(`\\{([^{}]*)\\}\\s*=\\s*[^;\\n]*\\b${name}\\s*[;,)]`, 'g')),
      ...findAll(source, new RegExp(`\\b${name}: \\{([^{}]*)\\}`, 'g')),
    ]),
  ];
  return [
    ...destructured.flatMap((list) => list.split(',').map((one) => one.trim().split(':')[0] ?? '')),
    ...names.flatMap((name) => findAll(source, new RegExp(`(?<![\\w$])${name}\\??\\.(\\w+)`, 'g'))),
    // An entry that a value names, such as the code of an error.
    ...(names.some((name) => new RegExp(`(?<![\\w$])${name}\\[`).test(source)) ? quoted : []),
  ];
}

/** Such as `FormTexts`, for `type FormTexts = Texts['taskForm']`. */
function findTypeNames(area: string): string[] {
  const declaration = new RegExp(`type (\\w+) = [^;]*?Texts\\['${area}'\\]`, 'g');
  return [...new Set(readers.flatMap((source) => findAll(source, declaration)))];
}

function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}
