import { join } from 'node:path';
import { type Environment, readVariable } from './read.ts';
import { ConfigError } from './secrets.ts';

const S3_VARIABLES = ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;

/**
 * Where uploaded files go (decisions §1): into the database as data URLs, which only development may do, into
 * `DATA_DIR/files`, or to object storage, which takes its bucket and keys. `url` is where they are reached, if that is said.
 */
export function readStorage(env: Environment, { production, dataDir }: { production: boolean; dataDir: string }) {
  const driver = readVariable(env, 'STORAGE_DRIVER') ?? 'base64';
  if (production && driver === 'base64') {
    throw new ConfigError('Production needs STORAGE_DRIVER: disk, for files in DATA_DIR, or s3.');
  }
  const [bucket, accessKeyId, secretAccessKey] = S3_VARIABLES.map((name) => readVariable(env, name));
  const missing = S3_VARIABLES.filter((name) => readVariable(env, name) === null);
  if (driver === 's3' && missing.length > 0) {
    throw new ConfigError(`STORAGE_DRIVER is "s3", which needs ${missing.join(', ')}.`);
  }
  return {
    driver,
    url: readVariable(env, 'STORAGE_URL'),
    folder: join(dataDir, 'files'),
    s3:
      bucket && accessKeyId && secretAccessKey
        ? {
            endpoint: readVariable(env, 'S3_ENDPOINT'),
            region: readVariable(env, 'S3_REGION'),
            bucket,
            accessKeyId,
            secretAccessKey,
          }
        : null,
  };
}
