import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findStablePort } from '../ports.ts';
import { type RunningProcess, startProcess } from '../processes.ts';

const SITE = new URL('../../../deploy/nginx.conf', import.meta.url);
/** With the folders of Debian's nginx. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

export interface Nginx {
  process: RunningProcess;
  url: string;
  schedulerUrl: string;
}

export interface NginxOptions {
  folder: string;
  apiPorts: readonly [number, number];
  /** Null for plain HTTP. */
  tls: { name: string; certificate: string; key: string } | null;
}

export const hasNginx = (): boolean => spawnSync('nginx', ['-v'], { env: { PATH } }).status === 0;

/** Starts nginx on loopback with `deploy/nginx.conf`, replacing only ports, paths, host name and TLS. Stops with `stack`. */
export async function startNginx(stack: AsyncDisposableStack, options: NginxOptions): Promise<Nginx> {
  const { folder, apiPorts, tls } = options;
  const [port, redirectPort, schedulerPort] = [await findStablePort(), await findStablePort(), await findStablePort()];
  const inFolder = (name: string) => join(folder, name);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of temporary) mkdirSync(inFolder(`nginx-${name}`), { recursive: true });

  const tlsReplacements: Replacement[] = [
    ['listen 443 ssl http2;', tls ? `listen 127.0.0.1:${port} ssl http2;` : `listen 127.0.0.1:${port};`],
    [/ssl_certificate .*;/, tls ? `ssl_certificate ${inFolder('tls.pem')};` : ''],
    [/ssl_certificate_key .*;/, tls ? `ssl_certificate_key ${inFolder('tls.key')};` : ''],
    [/ssl_protocols .*;/, tls ? '$&' : ''],
  ];
  const site = replaceAll(readFileSync(SITE, 'utf8'), [
    ...tlsReplacements,
    ['127.0.0.1:3001', `127.0.0.1:${apiPorts[0]}`],
    ['127.0.0.1:3002', `127.0.0.1:${apiPorts[1]}`],
    ['listen 127.0.0.1:3000;', `listen 127.0.0.1:${schedulerPort};`],
    ['listen 80;', `listen 127.0.0.1:${redirectPort};`],
    // Not every machine has IPv6.
    [/listen \[::\]:.*;/g, ''],
    [/\/var\/log\/nginx\/carillon\.log/g, inFolder('access.log')],
    [/carillon\.example\.com/g, tls?.name ?? '127.0.0.1'],
  ]);
  writeFileSync(inFolder('site.conf'), site);
  if (tls) {
    writeFileSync(inFolder('tls.pem'), tls.certificate);
    writeFileSync(inFolder('tls.key'), tls.key);
  }
  const main = [
    'daemon off;',
    // Otherwise root's workers could not read the temporary folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'worker_processes 2;',
    `pid ${inFolder('nginx.pid')};`,
    'error_log stderr notice;',
    'events { worker_connections 1024; }',
    'http {',
    ...temporary.map((name) => `  ${name}_temp_path ${inFolder(`nginx-${name}`)};`),
    `  access_log ${inFolder('access-default.log')};`,
    `  include ${inFolder('site.conf')};`,
    '}',
  ];
  writeFileSync(inFolder('nginx.conf'), `${main.join('\n')}\n`);
  const program = await startProcess(stack, {
    name: 'nginx',
    file: ['nginx', '-p', folder, '-c', inFolder('nginx.conf')],
    folder,
    env: { PATH },
    ready: /start worker process \d+/,
  });
  return {
    process: program,
    url: tls ? `https://${tls.name}:${port}` : `http://127.0.0.1:${port}`,
    schedulerUrl: `http://127.0.0.1:${schedulerPort}`,
  };
}

type Replacement = [pattern: string | RegExp, replacement: string];

/** Throws when a pattern is missing, which means that the file has changed. */
function replaceAll(text: string, replacements: readonly Replacement[]): string {
  let replaced = text;
  for (const [pattern, replacement] of replacements) {
    const next = replaced.replace(pattern, replacement);
    if (next === replaced && replacement !== '$&') throw new Error(`deploy/nginx.conf does not contain ${pattern}.`);
    replaced = next;
  }
  return replaced;
}
