import { mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files that come out of an archive, in a folder of their own until all of them are there. */
export interface IncomingFiles {
  add(key: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Puts all of them where the service looks for them. */
  settle(): Promise<void>;
  /** Removes what has not been settled. */
  discard(): Promise<void>;
}

/** Receives files for the storage in `folder`. What an earlier try has left behind is removed first. */
export async function receiveFiles(folder: string): Promise<IncomingFiles> {
  const draft = `${folder}.restoring`;
  const discard = () => rm(draft, { recursive: true, force: true });
  await discard();
  await mkdir(draft, { recursive: true, mode: 0o700 });
  return {
    async add(key, bytes) {
      const file = await open(join(draft, key), 'wx', 0o600);
      try {
        for await (const piece of bytes) await file.writeFile(piece);
        await file.sync();
      } finally {
        await file.close();
      }
    },
    async settle() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for await (const { name } of await opendir(draft)) await rename(join(draft, name), join(folder, name));
      await discard();
      await syncFolder(folder);
      await syncFolder(dirname(folder));
    },
    discard,
  };
}

/** What was named, renamed or removed in a folder outlives a power cut from then on. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
