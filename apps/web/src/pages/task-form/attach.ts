import { readFiles } from '../../http/multipart.ts';
import type { SignedInVisit } from '../../visit.ts';
import { ActionStop } from '../../visit.ts';
import type { Typed } from './typed.ts';

async function* toStream(bytes: Buffer) {
  yield bytes;
}

/** Stores the files of the form, and adds them to the attachments. Returns what is wrong with the others. */
export async function storeFiles(visit: SignedInVisit, typed: Typed): Promise<{ typed: Typed; problems: string[] }> {
  const problems: string[] = [];
  const attachments = [...typed.attachments];
  for (const { name, type, bytes } of readFiles(visit.request)) {
    if (bytes === null) {
      problems.push(`${name} is too long: a file has at most 10 MB, and all together 20 MB`);
      continue;
    }
    const result = await visit.actions.uploadFile(visit.session, { name, type, bytes: toStream(bytes) });
    if (result.success) attachments.push(result.data.id);
    else if (result.code === undefined)
      problems.push(
        ...Object.values(result.details)
          .flat()
          .map((text) => `${name} ${text}`),
      );
    else if (result.code === 'QUOTA_EXCEEDED') problems.push(`${name} is not attached: ${result.message}`);
    else if (result.code === 'RATE_LIMIT_EXCEEDED') {
      problems.push(`${name} is not attached: too many files at once, try again in ${result.retryAfter} s`);
    } else if (result.code === 'SERVICE_UNAVAILABLE') problems.push(`${name} is not attached: ${result.message}`);
    else throw new ActionStop(result);
  }
  return { typed: { ...typed, attachments }, problems };
}
