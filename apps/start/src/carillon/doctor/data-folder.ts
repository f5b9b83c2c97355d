import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '@carillon/api/lib/config/environment';
import { SECRETS } from '@carillon/api/lib/config/variables';
import { type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { formatBytes } from '../formatting.ts';

const { ok, warning, problem } = findingsFor('data folder');
const MIN_FREE_BYTES = 100 * 1024 ** 2;
const LOW_FREE_BYTES = 1024 ** 3;
/** Permission bits. */
const OTHERS = 0o007;
const GROUP_AND_OTHERS = 0o077;

/** Checks that DATA_DIR can be used and has space, and that files with secrets cannot be read by other users. */
export async function checkDataFolder(dataDir: string, env: Environment, cwd = process.cwd()): Promise<Finding[]> {
  const findings = [await checkAccess(dataDir)];
  if (findings[0]?.level === 'ok' && existsSync(dataDir)) findings.push(...(await checkSpace(dataDir)));
  const secrets = [join(dataDir, 'secrets.json'), ...SECRETS.flatMap((name) => env[`${name}_FILE`] ?? [])];
  for (const path of secrets) findings.push(...(await checkPermissions(path, OTHERS, problem)));
  findings.push(...(await checkPermissions(join(dataDir, 'files'), GROUP_AND_OTHERS, warning)));
  findings.push(...(await checkPermissions(join(cwd, '.env'), OTHERS, warning)));
  return findings;
}

async function checkAccess(dataDir: string): Promise<Finding> {
  const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return ok(`${dataDir} is created at the first start`);
    return problem(`${dataDir} cannot be read (${found.code}).`, 'Set DATA_DIR to a folder of your own.');
  }
  if (!found.isDirectory()) return problem(`${dataDir} is not a folder.`, 'Set DATA_DIR to a folder.');
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok(`${dataDir} can be written`);
  } catch {
    return problem(
      `${dataDir} cannot be written by this user.`,
      'Make this user its owner, or set DATA_DIR to another folder.',
    );
  }
}

async function checkSpace(dataDir: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free >= LOW_FREE_BYTES) return [];
  const report = free < MIN_FREE_BYTES ? problem : warning;
  return [report(`Its disk has ${formatBytes(free)} left.`, 'Free some space, or move DATA_DIR.')];
}

async function checkPermissions(
  path: string,
  forbiddenBits: number,
  report: (message: string, fix: string) => Finding,
): Promise<Finding[]> {
  const found = await stat(path).catch(() => null);
  if (!found || (found.mode & forbiddenBits) === 0) return [];
  return [report(`Other users of this machine can access ${path}.`, `Run chmod go= ${path}`)];
}
