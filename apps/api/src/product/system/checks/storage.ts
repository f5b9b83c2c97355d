import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Config } from '../../../lib/config/config.ts';
import { createFileStorage, type FileStorage } from '../../../lib/storage/client.ts';
import { describeCause, type Finding, findingsFor } from './finding.ts';

const { ok, problem } = findingsFor('storage');

/** Stores, reads and deletes a small object. */
export async function checkStorage({ storage }: Pick<Config, 'storage'>): Promise<Finding[]> {
  if (storage.driver === 'base64') return [ok('files are stored in the database')];
  const location = storage.driver === 'disk' ? storage.folder : `the bucket ${storage.s3.bucket}`;
  const fix =
    storage.driver === 'disk'
      ? 'Make DATA_DIR a folder that this user can write into, on a disk with free space.'
      : 'Correct S3_ENDPOINT, S3_REGION, S3_BUCKET and the keys, which need s3:PutObject, s3:GetObject and s3:DeleteObject.';
  let files: FileStorage | undefined;
  let step = 'used';
  try {
    files = createFileStorage({ storage });
    const key = `carillon-doctor-${randomBytes(12).toString('hex')}.txt`;
    const content = randomBytes(1024).toString('hex');
    step = 'written into';
    const url = await files.store(key, Readable.from([Buffer.from(content)]), {
      name: 'doctor.txt',
      type: 'text/plain',
    });
    step = 'read from';
    const read = await files.read({ storageKey: key, url });
    if (read?.toString() !== content) throw new Error(read ? 'the content differs' : 'the object is missing');
    step = 'deleted from';
    await files.remove(key);
    return [ok(`objects can be written into, read from and deleted from ${location}`)];
  } catch (error) {
    return [problem(`${location} cannot be ${step}: ${describeCause(error)}`, fix)];
  } finally {
    await files?.close();
  }
}
