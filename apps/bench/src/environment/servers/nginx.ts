import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findStablePort } from '../ports.ts';
import { type RunningProcess, startProcess } from '../processes.ts';

/** What operators are given. */
const SITE = new URL('../../../../../deploy/nginx.conf', import.meta.url);
/** Where Debian has it, which is not on everybody's path. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

export interface Nginx {
  process: RunningProcess;
  /** Where clients reach it, without a path. */
  url: string;
  /** Where the scheduler reaches it. */
  schedulerUrl: string;
}

export interface NginxOptions {
  /** Its files; whoever it runs as has to get in. */
  folder: string;
  /** The ports of the two API processes, which may come later. */
  apiPorts: readonly [number, number];
  /** Its name and certificate; null: it speaks plain HTTP. */
  tls: { name: string; certificate: string; key: string } | null;
}

/** Whether there is an nginx on this machine. */
export const hasNginx = (): boolean => spawnSync('nginx', ['-v'], { env: { PATH } }).status === 0;

/**
 * Starts nginx on loopback by `deploy/nginx.conf` itself: only its ports, its paths, its name and its certificate are
 * others, and without `tls` the lines about that are missing. Ends with `stack`.
 */
export async function startNginx(stack: AsyncDisposableStack, options: NginxOptions): Promise<Nginx> {
  const { folder, apiPorts, tls } = options;
  const [port, redirectPort, schedulerPort] = [await findStablePort(), await findStablePort(), await findStablePort()];
  const at = (name: string) => join(folder, name);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of temporary) mkdirSync(at(`nginx-${name}`), { recursive: true });

  const ownTls: Replacement[] = [
    ['listen 443 ssl http2;', tls ? `listen 127.0.0.1:${port} ssl http2;` : `listen 127.0.0.1:${port};`],
    [/ssl_certificate .*;/, tls ? `ssl_certificate ${at('tls.pem')};` : ''],
    [/ssl_certificate_key .*;/, tls ? `ssl_certificate_key ${at('tls.key')};` : ''],
    [/ssl_protocols .*;/, tls ? '$&' : ''],
  ];
  const site = replaceAll(readFileSync(SITE, 'utf8'), [
    ...ownTls,
    ['127.0.0.1:3001', `127.0.0.1:${apiPorts[0]}`],
    ['127.0.0.1:3002', `127.0.0.1:${apiPorts[1]}`],
    ['listen 127.0.0.1:3000;', `listen 127.0.0.1:${schedulerPort};`],
    ['listen 80;', `listen 127.0.0.1:${redirectPort};`],
    // Not every machine speaks IPv6.
    [/listen \[::\]:.*;/g, ''],
    [/\/var\/log\/nginx\/carillon\.log/g, at('access.log')],
    [/carillon\.example\.com/g, tls?.name ?? '127.0.0.1'],
  ]);
  writeFileSync(at('site.conf'), site);
  if (tls) {
    writeFileSync(at('tls.pem'), tls.certificate);
    writeFileSync(at('tls.key'), tls.key);
  }
  const main = [
    'daemon off;',
    // Files in a temporary folder are the user's own.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'worker_processes 2;',
    `pid ${at('nginx.pid')};`,
    'error_log stderr notice;',
    'events { worker_connections 1024; }',
    'http {',
    ...temporary.map((name) => `  ${name}_temp_path ${at(`nginx-${name}`)};`),
    `  access_log ${at('access-others.log')};`,
    `  include ${at('site.conf')};`,
    '}',
  ];
  writeFileSync(at('nginx.conf'), `${main.join('\n')}\n`);
  const program = await startProcess(stack, {
    name: 'nginx',
    file: ['nginx', '-p', folder, '-c', at('nginx.conf')],
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

type Replacement = [what: string | RegExp, by: string];

/** Throws for what is not there: the file has changed, and nobody would notice. */
function replaceAll(text: string, replacements: readonly Replacement[]): string {
  let replaced = text;
  for (const [what, by] of replacements) {
    const next = replaced.replace(what, by);
    if (next === replaced && by !== '$&') throw new Error(`deploy/nginx.conf has no ${what} any more.`);
    replaced = next;
  }
  return replaced;
}
