import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '@carillon/api/config/environment';
import { SECRETS } from '@carillon/api/config/variables';
import { inBytes } from '../wording.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, fault } = findingsOf('data folder');
const FREE_WARNING = 1024 ** 3;
const FREE_FAULT = 100 * 1024 ** 2;
/** Anybody but the owner and its group. */
const OTHERS = 0o007;
const NOT_THE_OWNER = 0o077;

/** Whether the folder can be used, has room, and keeps to itself what is nobody else's business. */
export async function examineDataFolder(dataDir: string, env: Environment, cwd = process.cwd()): Promise<Finding[]> {
  const findings = [await ofFolder(dataDir)];
  if (findings[0]?.level === 'ok' && existsSync(dataDir)) findings.push(...(await ofSpace(dataDir)));
  const secrets = [join(dataDir, 'secrets.json'), ...SECRETS.flatMap((name) => env[`${name}_FILE`] ?? [])];
  for (const path of secrets) findings.push(...(await ofSecret(path, OTHERS, fault)));
  findings.push(...(await ofSecret(join(dataDir, 'files'), NOT_THE_OWNER, warning)));
  findings.push(...(await ofSecret(join(cwd, '.env'), OTHERS, warning)));
  return findings;
}

async function ofFolder(dataDir: string): Promise<Finding> {
  const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT')
      return fault(`${dataDir} cannot be looked at (${found.code}).`, 'Set DATA_DIR to a folder of your own.');
    return ok(`${dataDir} is made at the first start`);
  }
  if (!found.isDirectory()) return fault(`${dataDir} is no folder.`, 'Set DATA_DIR to a folder.');
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok(`${dataDir} can be written`);
  } catch {
    return fault(
      `${dataDir} cannot be written by this user.`,
      'Make this user its owner, or set DATA_DIR to another folder.',
    );
  }
}

async function ofSpace(dataDir: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  const say = free < FREE_FAULT ? fault : warning;
  return free < FREE_WARNING ? [say(`Its disk has ${inBytes(free)} left.`, 'Make room, or move DATA_DIR.')] : [];
}

async function ofSecret(
  path: string,
  bits: number,
  say: (message: string, mend: string) => Finding,
): Promise<Finding[]> {
  const found = await stat(path).catch(() => null);
  if (!found || (found.mode & bits) === 0) return [];
  return [say(`Other users of this machine can get at ${path}.`, `chmod go= ${path}`)];
}
