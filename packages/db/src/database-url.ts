import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';

/** A URL that cannot be used; the message is one line for the operator, without the password. */
export class DatabaseUrlError extends Error {}

interface DatabaseAddress {
  /** Without the parameters that `ssl` replaces. */
  url: string;
  /** Undefined: as the driver decides. */
  ssl: ConnectionOptions | undefined;
}

/** Both mean the primary, which is used in any case. */
const SESSION_ATTRS = ['primary', 'read-write'];
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * The servers of a URL such as `postgres://user@a:5432,b:5432/name`, one URL for each, in their order. Throws a
 * `DatabaseUrlError`.
 */
export function listServers(text: string): [string, ...string[]] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?#@]*@)?)([^/?#@]*)(.*)$/s.exec(text) ?? [];
  const [first, ...others] = hosts.split(',');
  if (others.length === 0) return [text];
  if ([first, ...others].includes('')) throw new DatabaseUrlError('DATABASE_URL has an empty host between its commas.');
  const toUrl = (host: string | undefined) => `${before}${host}${after}`;
  return [toUrl(first), ...others.map(toUrl)];
}

/** As `listServers`, of standbys: without `target_session_attrs`, because a standby that became the primary is read too. */
export const listReadServers = (text: string): string[] =>
  listServers(text).map((server) => server.replace(/(?<=[?&])target_session_attrs=[^&]*&?/, ''));

/** For messages and logs: without user, password and settings. Throws for a URL that `parseDatabaseUrl` refuses. */
export const describeServers = (text: string): string =>
  listServers(text)
    .map((server) => new URL(server))
    .map(({ host, hostname }) => (isSocketFolder(hostname) ? decodeURIComponent(host) : host))
    .join(', ');

/** Whether the host of a URL is the folder of a socket, as in `postgres://carillon@%2Frun%2Fpostgresql/carillon`. */
export const isSocketFolder = (hostname: string): boolean => /^%2f/i.test(hostname);

/**
 * Splits the settings of TLS from the URL. `sslmode` and `sslrootcert` mean what they mean in libpq, except that
 * `sslrootcert` alone implies `verify-full`. `text` is the URL of one server. Throws a `DatabaseUrlError`.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = URL.parse(text);
  if (hasUnencodedPassword(text, url)) {
    throw new DatabaseUrlError(
      'DATABASE_URL has a user or password that is not percent-encoded: write %23 for #, %25 for %, %2F for /, %3F for ? and %40 for @.',
    );
  }
  if (url === null) throw new DatabaseUrlError('DATABASE_URL is not a URL: a part after the password is misspelt.');
  const given = url.searchParams.get('sslmode');
  if (given !== null && !SSL_MODES.includes(given)) {
    throw new DatabaseUrlError(`DATABASE_URL has sslmode=${given}, which takes ${SSL_MODES.join(', ')}.`);
  }
  const rootCert = url.searchParams.get('sslrootcert');
  const mode = given === 'require' && rootCert !== null ? 'verify-ca' : (given ?? (rootCert && 'verify-full'));
  const session = url.searchParams.get('target_session_attrs');
  if (session !== null && !SESSION_ATTRS.includes(session)) {
    throw new DatabaseUrlError(
      `DATABASE_URL has target_session_attrs=${session}, which takes ${SESSION_ATTRS.join(' or ')}.`,
    );
  }
  url.searchParams.delete('target_session_attrs');
  url.searchParams.delete('sslrootcert');
  if (mode !== 'verify-ca' && mode !== 'verify-full') return { url: url.href, ssl: undefined };
  url.searchParams.delete('sslmode');
  const ssl: ConnectionOptions = {
    // The name in the certificate. The socket is connected already.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    ...(rootCert !== null && { ca: readCertificates(rootCert) }),
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  };
  return { url: url.href, ssl };
}

/** One of `/?#` ends the password early, so that its rest and the `@` are read as another part of the URL. */
function hasUnencodedPassword(text: string, url: URL | null): boolean {
  if (url === null) return /:\/\/[^/?#@]*:[^@]*[/?#].*@/s.test(text);
  const [parameter = ''] = url.search.split('=');
  return `${url.pathname}${url.hash}${parameter}`.includes('@') || ![url.username, url.password].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function readCertificates(path: string): string | string[] {
  if (path === 'system') return getCACertificates('system');
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch {
    throw new DatabaseUrlError(`DATABASE_URL names ${path} as sslrootcert, which cannot be read.`);
  }
  try {
    new X509Certificate(pem);
    return pem;
  } catch {
    throw new DatabaseUrlError(`DATABASE_URL names ${path} as sslrootcert, which is not a PEM file of certificates.`);
  }
}
