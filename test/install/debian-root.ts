import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, start, succeed } from './commands.ts';

const SUITE = 'bookworm';
const PACKAGES = ['adduser', 'init-system-helpers', 'postgresql'];

interface Test {
  teardown(work: () => unknown): unknown;
}

export type DebianRoot = Awaited<ReturnType<typeof createRoot>>;

/** Whether this user may make the root of another Debian, change into it, and mount in it. */
export async function canCreateRoot(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const { code } = await run('unshare', ['--mount', 'sh', '-c', 'command -v debootstrap && mount -t tmpfs tmpfs /mnt']);
  return code === 0;
}

/** A Debian with PostgreSQL, which runs in it. Its processes end with the test. */
export async function createRoot(t: Test) {
  const root = mkdtempSync(join(tmpdir(), 'carillon-debian-'));
  // Other users work in it.
  chmodSync(root, 0o755);
  const inside = (program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run('chroot', [root, program, ...args], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env } });
  const postgres = (action: 'start' | 'stop') =>
    inside('sh', ['-c', `pg_ctlcluster --force $(pg_lsclusters -h | cut -d ' ' -f 1) main ${action}`]);
  t.teardown(async () => {
    await postgres('stop');
    await run('umount', [join(root, 'proc')]);
    // Only once nothing of this machine is below.
    if (!existsSync(join(root, 'proc/self'))) rmSync(root, { recursive: true, force: true });
  });
  const cache = join(tmpdir(), 'carillon-debian-packages');
  mkdirSync(cache, { recursive: true });
  const include = `--include=${PACKAGES.join(',')}`;
  await succeed('debootstrap', ['--variant=minbase', include, `--cache-dir=${cache}`, SUITE, root]);
  await succeed('mount', ['-t', 'proc', 'proc', join(root, 'proc')]);
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
      const args = [root, 'runuser', '-u', user, '--', 'env', '-C', folder, ...command.split(' ')];
      return start('chroot', args, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env } });
    },
  };
}
