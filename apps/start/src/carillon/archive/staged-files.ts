import { mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Restored files, in a folder of their own until all are complete. */
export interface StagedFiles {
  add(key: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Moves all files into the storage. */
  publish(): Promise<void>;
  /** Removes files that are not published. */
  discard(): Promise<void>;
}

/** Stages files for the storage in `folder`, after removing those of an earlier attempt. */
export async function stageFiles(folder: string): Promise<StagedFiles> {
  const draft = `${folder}.restoring`;
  const discard = () => rm(draft, { recursive: true, force: true });
  await discard();
  await mkdir(draft, { recursive: true, mode: 0o700 });
  return {
    async add(key, bytes) {
      const file = await open(join(draft, key), 'wx', 0o600);
      try {
        for await (const chunk of bytes) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
    },
    async publish() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for await (const { name } of await opendir(draft)) await rename(join(draft, name), join(folder, name));
      await discard();
      await syncFolder(folder);
      await syncFolder(dirname(folder));
    },
    discard,
  };
}

/** Makes changes of names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
