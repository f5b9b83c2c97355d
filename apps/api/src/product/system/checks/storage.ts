import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Config } from '../../../lib/config/config.ts';
import { createFileStorage, type FileStorage } from '../../../lib/storage/client.ts';
import { type DoctorTexts, describeCause, type Finding, findingsFor } from './finding.ts';

const { ok, problem } = findingsFor('storage');

/** Stores, reads and deletes a small object. */
export async function checkStorage({ storage }: Pick<Config, 'storage'>, texts: DoctorTexts): Promise<Finding[]> {
  if (storage.driver === 'base64') return [ok(texts.filesInDatabase)];
  const location = storage.driver === 'disk' ? storage.folder : texts.bucket(storage.s3.bucket);
  const fix = storage.driver === 'disk' ? texts.correctFolder : texts.correctBucket;
  let files: FileStorage | undefined;
  let step: keyof DoctorTexts['storageFailed'] = 'use';
  try {
    files = createFileStorage({ storage });
    const key = `carillon-doctor-${randomBytes(12).toString('hex')}.txt`;
    const content = randomBytes(1024).toString('hex');
    step = 'write';
    const url = await files.store(key, Readable.from([Buffer.from(content)]), {
      name: 'doctor.txt',
      type: 'text/plain',
    });
    step = 'read';
    const read = await files.read({ storageKey: key, url });
    if (read?.toString() !== content) throw new Error(read ? texts.contentDiffers : texts.objectMissing);
    step = 'delete';
    await files.remove(key);
    return [ok(texts.storageWorks(location))];
  } catch (error) {
    return [problem(texts.storageFailed[step](location, describeCause(error)), fix)];
  } finally {
    await files?.close();
  }
}
