import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcessesIn } from '../failover/cluster/processes.ts';
import { run, start, succeed } from './commands.ts';

const SUITE = 'bookworm';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
const PACKAGES = ['adduser', 'init-system-helpers', 'postgresql'];

interface Test {
  teardown(work: () => unknown): unknown;
}

export type DebianRoot = Awaited<ReturnType<typeof createRoot>>;

/** Folders in memory and those of some containers have no devices. */
const PARENT = '/var/tmp';

/** Whether this user may make the root of another Debian, change into it, and mount in it. */
export async function canCreateRoot(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const device = `${PARENT}/carillon-device-${process.pid}`;
  const steps = ['command -v debootstrap', 'mount -t tmpfs tmpfs /mnt', `mknod ${device} c 1 3`, `echo >${device}`];
  const { code } = await run('unshare', ['--mount', 'sh', '-c', steps.join(' && ')]);
  rmSync(device, { force: true });
  return code === 0;
}

/** A Debian with PostgreSQL, which runs in it. Its processes end with the test. */
export async function createRoot(t: Test) {
  const root = mkdtempSync(join(PARENT, 'carillon-debian-'));
  // Other users work in it.
  chmodSync(root, 0o755);
  // Mounted for each command alone, so that nothing stays mounted.
  const enter = ['--mount', 'sh', '-c', 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', root];
  const inside = (program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run('unshare', [...enter, program, ...args], { env: { PATH, ...env } });
  const postgres = (action: 'start' | 'stop') =>
    inside('sh', ['-c', `pg_ctlcluster --force $(pg_lsclusters -h | cut -d ' ' -f 1) main ${action}`]);
  t.teardown(async () => {
    await postgres('stop');
    await endProcessesIn(root);
    rmSync(root, { recursive: true, force: true });
  });
  const include = `--include=${PACKAGES.join(',')}`;
  await succeed('debootstrap', ['--variant=minbase', include, SUITE, root]);
  // Nobody needs the data after a power cut.
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/unsafe'), 'force-unsafe-io\n');
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
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
      const args = [...enter, 'runuser', '-u', user, '--', 'env', '-C', folder, ...command.split(' ')];
      return start('unshare', args, { env: { PATH, ...env } });
    },
  };
}
