import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import { buildContentDisposition, createFolder } from './disk.ts';
import { type Spooled, spool } from './spool.ts';

type Settings = Extract<Config['storage'], { driver: 's3' }>;

/** Milliseconds. */
interface S3Timeouts {
  connectMs: number;
  idleMs: number;
  responseMs: number;
}
const TIMEOUTS: S3Timeouts = { connectMs: 5000, idleMs: 15_000, responseMs: 60_000 };
/** The server may close an idle connection while it is reused. */
const MAX_ATTEMPTS = 2;

/** Spools each file: S3 needs its length first. Throws if the folder is not writable. */
export function createS3Objects(settings: Settings, timeouts: S3Timeouts = TIMEOUTS) {
  createFolder(settings.spool);
  let connected: ReturnType<typeof connect> | undefined;
  const connection = () => {
    connected ??= connect(settings, timeouts);
    return connected;
  };
  return {
    async store(key: string, bytes: Readable, { name, type }: { name: string; type: string }) {
      await using spooled = await spool(settings.spool, bytes);
      const { disk } = await connection();
      const options = {
        contentType: type,
        contentDisposition: buildContentDisposition(name),
        contentLength: spooled.size,
        ContentMD5: spooled.md5,
      };
      for (let attempt = 1; ; attempt++) {
        try {
          return await send(spooled, (body) => disk.putStream(key, body, options));
        } catch (error) {
          if (attempt === MAX_ATTEMPTS || getCause(error).$fault === 'client') throw error;
        }
      }
    },
    async open(key: string): Promise<Readable | null> {
      const { disk } = await connection();
      try {
        return await disk.getStream(key);
      } catch (error) {
        if (isUnknownKey(error)) return null;
        throw error;
      }
    },
    async remove(key: string) {
      const { disk } = await connection();
      try {
        await disk.delete(key);
      } catch (error) {
        if (!isUnknownKey(error)) throw error;
      }
    },
    async close() {
      if (connected) (await connected).client.destroy();
    },
  };
}

/** The SDK would print errors besides throwing them. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

async function connect({ s3 }: Settings, { connectMs, idleMs, responseMs }: S3Timeouts) {
  const [{ S3Client }, { S3Driver }, { Disk }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('flydrive/drivers/s3'),
    import('flydrive'),
  ]);
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = s3;
  const client = new S3Client({
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    region,
    credentials: { accessKeyId, secretAccessKey },
    // Not every S3 service has the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    maxAttempts: MAX_ATTEMPTS,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      requestTimeout: responseMs,
      throwOnRequestTimeout: true,
    },
  });
  // Without ACLs, which some services lack: the bucket decides who may read.
  const disk = new Disk(new S3Driver({ client, bucket, visibility: 'private', supportsACL: false }));
  return { client, disk };
}

async function send(spooled: Spooled, put: (body: Readable) => Promise<void>) {
  const body = spooled.read();
  try {
    await put(body);
  } finally {
    body.destroy();
  }
}

interface S3Error extends Error {
  $fault?: 'client' | 'server';
  $metadata?: { httpStatusCode?: number };
}

const getCause = (error: unknown) => ((error as Error).cause ?? {}) as S3Error;

function isUnknownKey(error: unknown): boolean {
  const { name, $metadata } = getCause(error);
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket';
}
