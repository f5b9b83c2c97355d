import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { ask, preparedFolder, start, until } from './servers.ts';

export interface TlsServer {
  /** With a host name that its certificate has, and without parameters. */
  url: string;
  /** A file with the certificate of the authority that signed the certificate of the server. */
  caFile: string;
  /** A file with the certificate of another authority. */
  otherCaFile: string;
  /** Rejects connections without TLS. */
  requireTls(): Promise<void>;
}

/** Starts a PostgreSQL with a certificate for `localhost`, signed by an authority that nothing else trusts. */
export async function startTlsServer(t: Test): Promise<TlsServer> {
  const dataDir = await preparedFolder(t);
  const { url } = await start(t, dataDir);
  const data = join(dataDir, 'postgres/data');
  const folder = t.testdir();
  const caFile = createAuthority(folder, 'ca');
  const otherCaFile = createAuthority(folder, 'other');
  const owner = statSync(data);
  for (const [name, content] of Object.entries(createCertificate(folder, 'localhost'))) {
    writeFileSync(join(data, name), content, { mode: 0o600 });
    chownSync(join(data, name), owner.uid, owner.gid);
  }
  const reload = () => ask(url, 'select pg_reload_conf()');
  await ask(url, 'alter system set ssl = on');
  await reload();
  await until(async () => (await ask(url, 'show ssl'))[0]?.ssl === 'on');
  const byName = Object.assign(new URL(url), { hostname: 'localhost' }).href;
  return {
    url: byName,
    caFile,
    otherCaFile,
    async requireTls() {
      const path = join(data, 'pg_hba.conf');
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/^host /gm, 'hostssl '));
      await reload();
      await until(() =>
        ask(url, 'select 1').then(
          () => false,
          () => true,
        ),
      );
    },
  };
}

const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });

function createAuthority(folder: string, name: string): string {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const subject = ['-subj', `/CN=${name}`, '-days', '2'];
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    ...subject,
  );
  return cert;
}

function createCertificate(folder: string, host: string): Record<'server.key' | 'server.crt', Buffer> {
  const [key, request, cert] = ['key', 'csr', 'crt'].map((ending) => join(folder, `server.${ending}`)) as [
    string,
    string,
    string,
  ];
  const extensions = join(folder, 'extensions');
  writeFileSync(extensions, `subjectAltName=DNS:${host}`);
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    key,
    '-out',
    request,
    '-subj',
    `/CN=${host}`,
  );
  const authority = ['-CA', join(folder, 'ca.crt'), '-CAkey', join(folder, 'ca.key'), '-CAcreateserial'];
  openssl('x509', '-req', '-in', request, ...authority, '-days', '2', '-extfile', extensions, '-out', cert);
  return { 'server.key': readFileSync(key), 'server.crt': readFileSync(cert) };
}
