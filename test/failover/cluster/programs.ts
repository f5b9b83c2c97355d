import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const POSTGRES_VERSIONS = '/usr/lib/postgresql';
const env = { PATH: `${process.env.PATH}:/usr/sbin` };

/** Debian's names of the programs that are not installed. */
export function listMissingPackages(): string[] {
  const isMissing = (program: string) => spawnSync('which', [program], { env }).status !== 0;
  const packages = { etcd: 'etcd-server', patroni: 'patroni', haproxy: 'haproxy', openssl: 'openssl' };
  const missing = Object.entries(packages).flatMap(([program, name]) => (isMissing(program) ? [name] : []));
  return findPostgresPrograms() === null ? [...missing, 'postgresql'] : missing;
}

/** The folder of the newest PostgreSQL that Debian has installed, or null. */
export function findPostgresPrograms(): string | null {
  let versions: string[] = [];
  try {
    versions = readdirSync(POSTGRES_VERSIONS);
  } catch {
    return null;
  }
  const newest = versions
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)[0];
  return newest === undefined ? null : join(POSTGRES_VERSIONS, String(newest), 'bin');
}

/** Such as `3.0.2`. */
export function readPatroniVersion(): string {
  const { stdout } = spawnSync('patroni', ['--version'], { env, encoding: 'utf8' });
  const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  if (!version) throw new Error(`patroni --version printed ${JSON.stringify(stdout)}.`);
  return version;
}
