import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '@carillon/api/lib/config/environment';
import { SECRETS } from '@carillon/api/lib/config/variables';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { formatBytes } from '../formatting.ts';

const { ok, warning, problem } = findingsFor('data folder');
const MIN_FREE_BYTES = 100 * 1024 ** 2;
const LOW_FREE_BYTES = 1024 ** 3;
/** Permission bits. */
const OTHERS = 0o007;
const GROUP_AND_OTHERS = 0o077;

/** Checks that DATA_DIR can be used and has space, and that files with secrets cannot be read by other users. */
export async function checkDataFolder(
  dataDir: string,
  env: Environment,
  texts: DoctorTexts,
  cwd = process.cwd(),
): Promise<Finding[]> {
  const findings = [await checkAccess(dataDir, texts)];
  if (findings[0]?.level === 'ok' && existsSync(dataDir)) findings.push(...(await checkSpace(dataDir, texts)));
  const secrets = [join(dataDir, 'secrets.json'), ...SECRETS.flatMap((name) => env[`${name}_FILE`] ?? [])];
  for (const path of secrets) findings.push(...(await checkPermissions(path, OTHERS, problem, texts)));
  findings.push(...(await checkPermissions(join(dataDir, 'files'), GROUP_AND_OTHERS, warning, texts)));
  findings.push(...(await checkPermissions(join(cwd, '.env'), OTHERS, warning, texts)));
  return findings;
}

async function checkAccess(dataDir: string, texts: DoctorTexts): Promise<Finding> {
  const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return ok(texts.folderCreated(dataDir));
    return problem(texts.folderUnreadable(dataDir, String(found.code)), texts.useOwnFolder);
  }
  if (!found.isDirectory()) return problem(texts.notAFolder(dataDir), texts.useFolder);
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok(texts.folderWritable(dataDir));
  } catch {
    return problem(texts.folderNotWritable(dataDir), texts.ownFolder);
  }
}

async function checkSpace(dataDir: string, texts: DoctorTexts): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free >= LOW_FREE_BYTES) return [];
  const report = free < MIN_FREE_BYTES ? problem : warning;
  return [report(texts.spaceLeft(formatBytes(free)), texts.freeSpace)];
}

async function checkPermissions(
  path: string,
  forbiddenBits: number,
  report: (message: string, fix: string) => Finding,
  texts: DoctorTexts,
): Promise<Finding[]> {
  const found = await stat(path).catch(() => null);
  if (!found || (found.mode & forbiddenBits) === 0) return [];
  return [report(texts.othersHaveAccess(path), texts.takeAccess(path))];
}
