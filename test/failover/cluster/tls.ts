import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsFiles } from './configuration.ts';
import { findAccount } from './node.ts';

/** Creates a certificate that is signed by itself, for the account of PostgreSQL. */
export function createCertificate(folder: string): TlsFiles {
  const [certificate, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
  const subject = ['-subj', '/CN=localhost', '-days', '2'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const { status, stderr } = spawnSync(
    'openssl',
    ['req', '-x509', ...kind, ...subject, '-out', certificate, '-keyout', key],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl failed: ${stderr}`);
  const account = findAccount();
  if (account) chownSync(key, account.uid, account.gid);
  return { certificate, key };
}
