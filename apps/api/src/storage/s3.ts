import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import { attachment } from './content-disposition.ts';
import { makeFolder } from './disk.ts';
import { type Spooled, spool } from './spool.ts';

type Settings = Extract<Config['storage'], { driver: 's3' }>;

/** How long the storage is waited for, in milliseconds: until it is connected, between its bytes, for an answer. */
export interface S3Patience {
  connectMs: number;
  silenceMs: number;
  answerMs: number;
}
const PATIENCE: S3Patience = { connectMs: 5000, silenceMs: 15_000, answerMs: 60_000 };
/** A connection that was kept open may be closed by the other side at the very moment that it is used again. */
const ATTEMPTS = 2;

/**
 * Objects in the bucket of `settings`. Throws where the folder that files go through cannot be written.
 *
 * S3 wants to know how long an object is before it comes, or else takes it in parts of 5 MiB, which would have to be
 * kept in memory, and which a process that dies leaves behind where no list of objects shows them. So a file goes
 * through a nameless one on disk, and is sent once it is whole: a slow client holds no connection to the storage.
 */
export function s3Objects(settings: Settings, patience: S3Patience = PATIENCE) {
  makeFolder(settings.spool);
  let connected: ReturnType<typeof connect> | undefined;
  const connection = () => {
    connected ??= connect(settings, patience);
    return connected;
  };
  return {
    async store(key: string, bytes: Readable, { name, type }: { name: string; type: string }) {
      await using spooled = await spool(settings.spool, bytes);
      const { disk } = await connection();
      const options = {
        contentType: type,
        contentDisposition: attachment(name),
        contentLength: spooled.size,
        ContentMD5: spooled.md5,
      };
      for (let attempt = 1; ; attempt++) {
        try {
          return await send(spooled, (body) => disk.putStream(key, body, options));
        } catch (error) {
          if (attempt === ATTEMPTS || causeOf(error).$fault === 'client') throw error;
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

/** What goes wrong is thrown; the SDK would print it as well. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Loaded when it is first needed: the SDK is large. */
async function connect({ s3 }: Settings, { connectMs, silenceMs, answerMs }: S3Patience) {
  const [{ S3Client }, { S3Driver }, { Disk }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('flydrive/drivers/s3'),
    import('flydrive'),
  ]);
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = s3;
  const client = new S3Client({
    // Other services than that of AWS have one host name for all buckets.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    region,
    credentials: { accessKeyId, secretAccessKey },
    // The newer checksums and their trailers are not understood by every service that speaks S3.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    maxAttempts: ATTEMPTS,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
      requestTimeout: answerMs,
      throwOnRequestTimeout: true,
    },
  });
  // No access list is sent: who may read is what the bucket says, and some services know no such lists.
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

/** What the storage said, as flydrive wraps it. */
const causeOf = (error: unknown) => ((error as Error).cause ?? {}) as S3Error;

function isUnknownKey(error: unknown): boolean {
  const { name, $metadata } = causeOf(error);
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket';
}
