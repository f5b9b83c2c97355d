import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/** Loads `.env` of the working folder into the environment, which goes before it. Returns the names in the file. */
export function loadEnvFile(): string[] {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return readEnvFileNames(process.cwd());
}

/** The names in the `.env` of a folder; empty if there is none. */
export function readEnvFileNames(folder: string): string[] {
  const path = join(folder, '.env');
  return existsSync(path) ? Object.keys(parseEnv(readFileSync(path, 'utf8'))) : [];
}
