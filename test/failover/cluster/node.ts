import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findStablePort } from '../../system/ports.ts';
import { startProcess } from '../../system/processes.ts';
import { closeWith } from '../../system/shutdown.ts';
import { buildPatroniConfiguration, type ClusterSettings } from './configuration.ts';
import { endProcessesIn, signalProcessesIn } from './processes.ts';

/** A server of the cluster: PostgreSQL and the Patroni that supervises it. */
export interface ClusterNode {
  name: string;
  port: number;
  restPort: number;
  start(): Promise<void>;
  /** Sends a signal to Patroni, PostgreSQL and all their processes, as if it happened to the machine. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

/** Prepares a node without starting it. Stops with `stack`. */
export async function prepareNode(
  stack: AsyncDisposableStack,
  { folder, name, settings }: { folder: string; name: string; settings: ClusterSettings },
): Promise<ClusterNode> {
  const [port, restPort] = [await findStablePort(), await findStablePort()];
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700 });
  const account = findAccount();
  const path = join(home, 'patroni.json');
  writeFileSync(path, JSON.stringify(buildPatroniConfiguration({ name, home, port, restPort }, settings)));
  if (account) for (const owned of [home, path]) chownSync(owned, account.uid, account.gid);
  const file: [string, ...string[]] = account
    ? ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--init-groups', 'patroni', path]
    : ['patroni', path];
  const end = () => endProcessesIn(home);
  // Patroni alone would not stop PostgreSQL if one of them is frozen or was killed.
  closeWith(stack, end);
  return {
    name,
    port,
    restPort,
    signal: (signalName) => signalProcessesIn(home, signalName),
    async start() {
      await startProcess(stack, {
        name,
        file,
        // Patroni and its children work in it, PostgreSQL in the folder of its data below: so their processes are found.
        folder: home,
        env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: home },
        ready: /no action\. (I am)/,
      });
      // Before Patroni is closed, which would wait for the others.
      closeWith(stack, end);
    },
  };
}

/** PostgreSQL refuses to run as root. Null for the current user. */
export function findAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (option: string) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
