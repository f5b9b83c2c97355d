import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';

export interface Runtime {
  name: string;
  program: string;
  given: string[];
}

/** The Node.js of the tests, other versions on the path, and what `CLIENT_RUNTIMES` lists: paths of node, deno or bun. */
export function findRuntimes(): Runtime[] {
  const { PATH = '', CLIENT_RUNTIMES = '' } = process.env;
  const onPath = PATH.split(delimiter).map((folder) => join(folder, 'node'));
  const listed = CLIENT_RUNTIMES.split(delimiter).filter(Boolean);
  const runtimes = [process.execPath, ...onPath.filter((file) => existsSync(file)), ...listed].map((program) => {
    const [version = ''] = execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n');
    const [, kind = 'node'] = /^(deno|bun)/.exec(basename(program)) ?? [];
    const major = /\d+/.exec(version)?.[0];
    return { name: `${kind} ${major}`, program, given: kind === 'deno' ? ['run', '--allow-net', '--allow-env'] : [] };
  });
  return [...new Map(runtimes.map((runtime) => [runtime.name, runtime])).values()];
}
