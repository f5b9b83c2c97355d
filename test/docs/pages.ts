import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The expected output of a command: JSON or a part of it, lines of an HTTP head, or text. */
export interface Outcome {
  kind: 'json' | 'http' | 'text';
  text: string;
}

/** A block of commands with its expected output. */
export interface Step {
  code: string;
  line: number;
  outcome: Outcome | null;
}

export interface Block {
  language: string;
  text: string;
  line: number;
}

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The paths of all pages of the documentation, from the root of the repository. */
export function listPages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.md'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'packages/client/README.md',
    'packages/contract/README.md',
  ];
  return [...pages, ...docs.sort()];
}

/** The fenced blocks of a page, in order. */
export function parseBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [at, line] of page.split('\n').entries()) {
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    if (language === undefined) {
      if (open) open.text += `${line}\n`;
    } else if (open) {
      blocks.push(open);
      open = undefined;
    } else {
      open = { language, text: '', line: at + 1 };
    }
  }
  return blocks;
}

/** The `sh` blocks of a page, each with the following block if that is its outcome. */
export function parseSteps(page: string): Step[] {
  const blocks = parseBlocks(page);
  return blocks.flatMap(({ language, text: code, line }, at): Step[] => {
    if (language !== 'sh') return [];
    const { language: kind, text } = blocks[at + 1] ?? { language: '', text: '' };
    const outcome = kind === 'json' || kind === 'http' || kind === 'text' ? { kind, text } : null;
    return [{ code, line, outcome } as Step];
  });
}

/** The text below a heading of the second level. */
export function getSection(page: string, heading: string): string {
  const [, rest] = page.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`There is no heading ${JSON.stringify(heading)}.`);
  return rest.split('\n## ')[0] as string;
}
