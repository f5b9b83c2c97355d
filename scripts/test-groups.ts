import { readSources } from './imports.ts';

/** A process starts with 2,000 files of the application, which takes longer than most test files. */
const MAX_FILES = 12;

/**
 * The test files by process: neighbours of one package together, and those that open a browser, which they share. A file
 * that starts processes runs alone, and first: its test waits, and nothing else may slow down its process.
 */
export function groupTestFiles(files: readonly string[]): string[][] {
  const sources = new Map(
    readSources(['{apps,packages}/*/test/**/*.ts', 'test/**/*.ts']).map((source) => [source.path, source]),
  );
  const reaches = (path: string, module: string, seen = new Set<string>()): boolean => {
    const source = sources.get(path);
    if (!source || seen.has(path)) return false;
    seen.add(path);
    return source.imports.some(({ to, typeOnly }) => !typeOnly && (to === module || reaches(to, module, seen)));
  };
  const alone: string[][] = [];
  const rooms = new Map<string, string[]>();
  for (const file of files) {
    if (reaches(file, 'node:child_process')) {
      alone.push([file]);
      continue;
    }
    const room = reaches(file, 'playwright-core') ? 'browser' : file.replace(/(^|\/)test\/.*/, '');
    rooms.set(room, [...(rooms.get(room) ?? []), file]);
  }
  return [...alone, ...[...rooms.values()].flatMap(splitEvenly)];
}

function splitEvenly(files: readonly string[]): string[][] {
  const size = Math.ceil(files.length / Math.ceil(files.length / MAX_FILES));
  return Array.from({ length: Math.ceil(files.length / size) }, (_, at) => files.slice(at * size, (at + 1) * size));
}
