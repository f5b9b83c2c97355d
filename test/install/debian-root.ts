import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcessesIn, signalProcessesIn } from '../failover/cluster/processes.ts';
import { run, start } from './commands.ts';

const SUITE = 'bookworm';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const PACKAGES = ['adduser', 'init-system-helpers', 'postgresql'];

interface Test {
  teardown(work: () => unknown): unknown;
  comment(text: string): void;
}

export type DebianRoot = NonNullable<Awaited<ReturnType<typeof createRoot>>>;

/** Folders in memory and those of some containers have no devices. */
const PARENT = '/var/tmp';

/** Whether this user may make the root of another Debian, change into it, and mount in it. */
async function canCreateRoot(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const device = `${PARENT}/carillon-device-${process.pid}`;
  const steps = ['command -v debootstrap', 'mount -t tmpfs tmpfs /mnt', `mknod ${device} c 1 3`, `echo >${device}`];
  const { code } = await run('unshare', ['--mount', 'sh', '-c', steps.join(' && ')]);
  rmSync(device, { force: true });
  return code === 0;
}

/**
 * Makes a Debian with PostgreSQL, which runs in it. Its processes end with the test. Null where that is not allowed, or no mirror
 * can be reached.
 */
export async function createRoot(t: Test) {
  if (!(await canCreateRoot())) return null;
  const root = mkdtempSync(join(PARENT, 'carillon-debian-'));
  // Other users work in it.
  chmodSync(root, 0o755);
  // Mounted for each command alone, so that nothing stays mounted.
  const mount = ['--mount', 'sh', '-c', 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i "$@"', root];
  const enter = (env: Readonly<Record<string, string>>) => [
    ...mount,
    ...Object.entries({ PATH, LANG: 'C.UTF-8', ...env }).map(([name, value]) => `${name}=${value}`),
  ];
  const inside = (program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run('unshare', [...enter(env), program, ...args]);
  const postgres = (action: 'start' | 'stop') =>
    inside('sh', ['-c', `pg_ctlcluster --force $(pg_lsclusters -h | cut -d ' ' -f 1) main ${action}`]);
  // When the run is interrupted, too.
  const end = () => signalProcessesIn(root, 'SIGKILL');
  process.once('exit', end);
  t.teardown(async () => {
    process.off('exit', end);
    await postgres('stop');
    await endProcessesIn(root);
    rmSync(root, { recursive: true, force: true });
  });
  const include = `--include=${PACKAGES.join(',')}`;
  const { code, output } = await run('debootstrap', [
    '--variant=minbase',
    include,
    SUITE,
    root,
    ...(await findMirror()),
  ]);
  if (code !== 0) {
    t.comment(output);
    return null;
  }
  // Nobody needs the data after a power cut.
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/unsafe'), 'force-unsafe-io\n');
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  // The socket has its port in its name, and this machine may use the usual one.
  const configure = (name: string, value: string) =>
    inside('sh', ['-c', `pg_conftool $(pg_lsclusters -h | cut -d ' ' -f 1) main set ${name} '${value}'`]);
  await configure('port', '5432');
  await configure('listen_addresses', '');
  await postgres('start');
  return {
    path: (path: string) => join(root, path),
    run: inside,
    postgres,
    /** Runs the command of a unit as its user. */
    startUnit: (unit: string, env: Readonly<Record<string, string>>) => {
      const [, user = ''] = /^User=(.+)$/m.exec(unit) ?? [];
      const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
      const [, folder = ''] = /^WorkingDirectory=(.+)$/m.exec(unit) ?? [];
      // As systemd, without a shell in between that would keep signals.
      const args = [...enter(env), 'runuser', '-u', user, '--', 'env', '-C', folder, ...command.split(' ')];
      return start('unshare', args);
    },
  };
}

/** The mirror of this machine, if it has that of the suite. */
async function findMirror(): Promise<string[]> {
  const format = ['--format', '$(RELEASE) $(REPO_URI)', 'Created-By: Packages'];
  const { output } = await run('apt-get', ['indextargets', ...format]);
  const [, mirror] = new RegExp(`^${SUITE} (\\S+)$`, 'm').exec(output) ?? [];
  return mirror ? [mirror] : [];
}
