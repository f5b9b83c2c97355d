import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cluster, isAlive } from './postmaster.ts';
import {
  type Account,
  assertAllowed,
  EmbeddedPostgresError,
  ensureReachable,
  findPrograms,
  getServerAccount,
  run,
} from './programs.ts';

export const SUPERUSER = 'carillon';
const HOME = 'postgres';

/** `root` without symbolic links. */
export const getDataFolder = (root: string): string => join(root, HOME, 'data');

/** Distinguishes drafts of this process from those of a killed one that had the same pid. */
const PROCESS_ID = randomUUID();

/** Opens the cluster, or creates it under a draft name and renames it, so that no killed start leaves an incomplete one. */
export async function openCluster(dataDir: string, durable: boolean): Promise<Cluster> {
  const found = await findPrograms();
  await mkdir(dataDir, { recursive: true }).catch((error: Error) => {
    throw new EmbeddedPostgresError(`DATA_DIR cannot be created (${error.message}): set it to a folder of your own.`);
  });
  // A running server is recognised by this path in its arguments, so symbolic links are resolved.
  const root = await realpath(dataDir);
  const home = join(root, HOME);
  await assertAllowed('-w', root, root, null);
  await deleteStaleDrafts(root);
  const owner = await findOwner(home);
  const account = owner === undefined ? await getServerAccount() : owner;
  await assertAllowed('-x', root, root, account);
  const programs = await ensureReachable(found, root, account);
  const cluster = { home, data: getDataFolder(root), programs, account, durable };
  if (owner === undefined) await createCluster(root, cluster);
  await assertAllowed('-w', home, root, account);
  const password = await readFile(join(home, 'password'), 'utf8');
  return { ...cluster, password };
}

/** The account that root runs the server as: the owner of the cluster, who can then still run it without root. */
async function findOwner(home: string): Promise<Account | undefined> {
  const found = await stat(home).catch(() => undefined);
  if (!found) return undefined;
  const me = process.getuid?.();
  if (me === 0) return found.uid === 0 ? takeOwnership(home) : { uid: found.uid, gid: found.gid };
  if (found.uid === me) return null;
  throw new EmbeddedPostgresError(
    `${home} belongs to another user (uid ${found.uid}): run Carillon as that user or as root, or set another DATA_DIR.`,
  );
}

/** Gives a cluster that root owns, for example one restored from a copy, to the server's account. */
async function takeOwnership(home: string): Promise<Account> {
  const account = await getServerAccount();
  if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, home], null);
  return account;
}

async function createCluster(root: string, cluster: Omit<Cluster, 'password'>): Promise<void> {
  const { home, programs, account, durable } = cluster;
  const draft = await mkdtemp(join(root, `postgres.new-${process.pid}-${PROCESS_ID}-`));
  try {
    const passwordFile = join(draft, 'password');
    await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    await mkdir(join(draft, 'data'), { mode: 0o700 });
    if (account) {
      for (const path of [draft, passwordFile, join(draft, 'data')]) await chown(path, account.uid, account.gid);
    }
    await run(
      programs.initdb,
      [
        `--pgdata=${join(draft, 'data')}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // Sorting and case conversion then do not depend on the C library of the machine.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        ...(durable ? [] : ['--no-sync']),
      ],
      account,
    ).catch((error: Error) => {
      throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot be created in ${root} (${error.message}).`);
    });
    await rename(draft, home);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have created the cluster meanwhile.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function deleteStaleDrafts(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const [, pid, instance] = /^postgres\.new-(\d+)-([0-9a-f-]{36})-/.exec(name) ?? [];
    if (!pid || instance === PROCESS_ID || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    // The initdb of a killed process may still be writing. The next start tries again.
    await rm(join(root, name), { recursive: true, force: true }).catch(() => {});
  }
}
