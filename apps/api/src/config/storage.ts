import { join } from 'node:path';
import { type Environment, readVariable } from './read.ts';
import { ConfigError } from './secrets.ts';

const S3_VARIABLES = ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;

interface Settings {
  production: boolean;
  baseUrl: string;
  dataDir: string;
}

/**
 * Where uploaded files go (decisions §1): into the database as data URLs, which only development may do, into
 * `DATA_DIR/files`, or to object storage, which takes its bucket and keys. Each file is reached at `url/<key>`.
 */
export function readStorage(env: Environment, { production, baseUrl, dataDir }: Settings) {
  const driver = readVariable(env, 'STORAGE_DRIVER') ?? 'base64';
  if (production && driver === 'base64') {
    throw new ConfigError('Production needs STORAGE_DRIVER: disk, for files in DATA_DIR, or s3.');
  }
  const url = readVariable(env, 'STORAGE_URL');
  const s3 = readS3(env);
  if (driver === 'base64') return { driver };
  if (driver === 'disk') return { driver, url: url ?? `${baseUrl}/files`, folder: join(dataDir, 'files') };
  const missing = S3_VARIABLES.filter((name) => readVariable(env, name) === null);
  if (missing.length > 0) throw new ConfigError(`STORAGE_DRIVER is "s3", which needs ${missing.join(', ')}.`);
  return { driver, url: url ?? addressOf(s3), spool: join(dataDir, 'spool'), s3 };
}

function readS3(env: Environment) {
  const [bucket = '', accessKeyId = '', secretAccessKey = ''] = S3_VARIABLES.map(
    (name) => readVariable(env, name) ?? '',
  );
  const [endpoint, region] = [readVariable(env, 'S3_ENDPOINT'), readVariable(env, 'S3_REGION')];
  return { endpoint, region, bucket, accessKeyId, secretAccessKey };
}

interface Bucket {
  endpoint: string | null;
  region: string;
  bucket: string;
}

/** A dot in the name would not be covered by the certificate of AWS: such a bucket is named in the path. */
function addressOf({ endpoint, region, bucket }: Bucket): string {
  if (endpoint !== null) return `${endpoint}/${bucket}`;
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
