import { join } from 'node:path';
import { ConfigError, type Environment, readVariable } from './environment.ts';

const S3_VARIABLES = ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;

interface Settings {
  production: boolean;
  baseUrl: string;
  dataDir: string;
}

/** Where uploaded files are stored; each is served at `<url>/<key>`. Data URLs in the database are for development only. */
export function readStorage(env: Environment, { production, baseUrl, dataDir }: Settings) {
  const driver = readVariable(env, 'STORAGE_DRIVER') ?? 'base64';
  if (production && driver === 'base64') {
    throw new ConfigError('Production needs STORAGE_DRIVER: disk, for files in DATA_DIR, or s3.');
  }
  const url = readVariable(env, 'STORAGE_URL');
  const s3 = {
    endpoint: readVariable(env, 'S3_ENDPOINT'),
    region: readVariable(env, 'S3_REGION'),
    bucket: readVariable(env, 'S3_BUCKET') ?? '',
    accessKeyId: readVariable(env, 'S3_ACCESS_KEY_ID') ?? '',
    secretAccessKey: readVariable(env, 'S3_SECRET_ACCESS_KEY') ?? '',
  };
  if (driver === 'base64') return { driver };
  if (driver === 'disk') return { driver, url: url ?? `${baseUrl}/files`, folder: join(dataDir, 'files') };
  const missing = S3_VARIABLES.filter((name) => readVariable(env, name) === null);
  if (missing.length > 0) throw new ConfigError(`STORAGE_DRIVER is "s3", which needs ${missing.join(', ')}.`);
  return { driver, url: url ?? buildBucketUrl(s3), spool: join(dataDir, 'spool'), s3 };
}

interface Bucket {
  endpoint: string | null;
  region: string;
  bucket: string;
}

/** The certificate of AWS does not cover a bucket name with a dot as host name, so that goes into the path. */
function buildBucketUrl({ endpoint, region, bucket }: Bucket): string {
  if (endpoint !== null) return `${endpoint}/${bucket}`;
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
