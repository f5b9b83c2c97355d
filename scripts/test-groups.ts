import { readSources } from './imports.ts';

/** A process starts with 2,000 files of the application, which takes longer than most test files. */
const MAX_FILES = 30;
/** Of files that start processes, which take longer: the cores have to be busy to the end. */
const MAX_STARTING_FILES = 4;

/**
 * The test files by process, in which they run one after the other: neighbours of one package together, and those that open
 * a browser, which they share. Files that start processes come first.
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
  const starting = new Map<string, string[]>();
  // The browser's room takes longest.
  const others = new Map<string, string[]>([['browser', []]]);
  for (const file of files) {
    const starts = reaches(file, 'node:child_process');
    const room = !starts && reaches(file, 'playwright-core') ? 'browser' : file.replace(/(^|\/)test\/.*/, '');
    const rooms = starts ? starting : others;
    rooms.set(room, [...(rooms.get(room) ?? []), file]);
  }
  return [
    ...[...starting.values()].flatMap((room) => splitEvenly(room, MAX_STARTING_FILES)),
    ...[...others.values()].flatMap((room) => splitEvenly(room, MAX_FILES)),
  ];
}

function splitEvenly(files: readonly string[], maximum: number): string[][] {
  if (files.length === 0) return [];
  const size = Math.ceil(files.length / Math.ceil(files.length / maximum));
  return Array.from({ length: Math.ceil(files.length / size) }, (_, at) => files.slice(at * size, (at + 1) * size));
}
