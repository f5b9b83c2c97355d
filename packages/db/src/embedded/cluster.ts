import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './postmaster.ts';
import {
  type Account,
  assertAllowed,
  EmbeddedPostgresError,
  findPrograms,
  type Programs,
  reachablePrograms,
  run,
  serverAccount,
} from './programs.ts';

/** One embedded database cluster on disk: `data`, its password, its port and its log, together in `home`. */
export interface Cluster {
  home: string;
  data: string;
  password: string;
  programs: Programs;
  account: Account;
  /** Whether a power cut may cost committed data; true only in tests. */
  durable: boolean;
}

export const SUPERUSER = 'carillon';

/** Tells the drafts of this process from those that a killed one left behind, whatever its pid was. */
const PROCESS = randomUUID();

/**
 * Opens the cluster in `<dataDir>/postgres`, and creates it the first time. It appears under that name only when it
 * is whole, so a start that is killed leaves nothing half-made behind, and two that start together agree on one.
 */
export async function openCluster(dataDir: string, durable: boolean): Promise<Cluster> {
  const found = await findPrograms();
  await mkdir(dataDir, { recursive: true }).catch((error: Error) => {
    throw new EmbeddedPostgresError(`DATA_DIR cannot be created (${error.message}): set it to a folder of your own.`);
  });
  // The running server is recognised by this path among its arguments, so it has to be the same for everyone.
  const root = await realpath(dataDir);
  const home = join(root, 'postgres');
  await assertAllowed('-w', root, root, null);
  await sweepDrafts(root);
  const owner = await ownerOf(home);
  const account = owner === undefined ? await serverAccount() : owner;
  await assertAllowed('-x', root, root, account);
  const programs = await reachablePrograms(found, root, account);
  const cluster = { home, data: join(home, 'data'), programs, account, durable };
  if (owner === undefined) await createCluster(root, cluster);
  await assertAllowed('-w', home, root, account);
  const password = await readFile(join(home, 'password'), 'utf8');
  return { ...cluster, password };
}

/** Root runs the server as whoever owns the cluster, so that its owner can still run it afterwards. */
async function ownerOf(home: string): Promise<Account | undefined> {
  const found = await stat(home).catch(() => undefined);
  if (!found) return undefined;
  const me = process.getuid?.();
  if (me === 0) return found.uid === 0 ? adopt(home) : { uid: found.uid, gid: found.gid };
  if (found.uid === me) return null;
  throw new EmbeddedPostgresError(
    `${home} belongs to another user (uid ${found.uid}): run Carillon as that user or as root, or set another DATA_DIR.`,
  );
}

/** A cluster that root owns, as one restored from a copy, becomes the server's. */
async function adopt(home: string): Promise<Account> {
  const account = await serverAccount();
  if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, home], null);
  return account;
}

async function createCluster(root: string, cluster: Omit<Cluster, 'password'>): Promise<void> {
  const { home, programs, account, durable } = cluster;
  const draft = await mkdtemp(join(root, `postgres.new-${process.pid}-${PROCESS}-`));
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
        // Sorting and upper case then do not depend on what the machine's C library thinks.
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
    // Another process was faster, and its cluster is as good as ours.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function sweepDrafts(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const [, pid, instance] = /^postgres\.new-(\d+)-([0-9a-f-]{36})-/.exec(name) ?? [];
    if (!pid || instance === PROCESS || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    // The initdb of a killed process may still be writing there; then the rest goes at the next start.
    await rm(join(root, name), { recursive: true, force: true }).catch(() => {});
  }
}
