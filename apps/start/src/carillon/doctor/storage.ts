import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Config } from '@carillon/api/config/config';
import { createFileStorage, type FileStorage } from '@carillon/api/storage/client';
import { type Finding, findingsOf, messageOf } from './finding.ts';

const { ok, fault } = findingsOf('storage');

/** Stores, reads and removes a small object, as an upload does. */
export async function examineStorage({ storage }: Pick<Config, 'storage'>): Promise<Finding[]> {
  if (storage.driver === 'base64') return [ok('files are kept in the database')];
  const place = storage.driver === 'disk' ? storage.folder : `the bucket ${storage.s3.bucket}`;
  const mend =
    storage.driver === 'disk'
      ? 'Make DATA_DIR a folder on a disk with room that this user can write into.'
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
    if (read?.toString() !== content) throw new Error(read ? 'something else came back' : 'nothing came back');
    step = 'deleted from';
    await files.remove(key);
    return [ok(`${place} can be written, read and deleted from`)];
  } catch (error) {
    return [fault(`${place} cannot be ${step}: ${messageOf(error)}`, mend)];
  } finally {
    await files?.close();
  }
}
