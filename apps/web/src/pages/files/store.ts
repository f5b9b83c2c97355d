import type { ActionError } from '@carillon/contract/actions/index';
import { readFiles } from '../../http/multipart.ts';
import { ActionFailed, type UserPageContext } from '../../page.ts';

async function* toStream(bytes: Buffer) {
  yield bytes;
}

/** Stores the files of the form. Returns the ids of the new files, and what is wrong with the others. */
export async function storeFiles(context: UserPageContext): Promise<{ ids: string[]; problems: string[] }> {
  const ids: string[] = [];
  const problems: string[] = [];
  for (const { name, type, bytes } of readFiles(context.request)) {
    if (bytes === null) {
      problems.push(`${name} is too long: a file has at most 10 MB, and all together 20 MB`);
      continue;
    }
    const result = await context.actions.uploadFile(context.session, { name, type, bytes: toStream(bytes) });
    if (result.success) ids.push(result.data.id);
    else problems.push(...describeProblems(name, result));
  }
  return { ids, problems };
}

function describeProblems(name: string, result: ActionError): string[] {
  switch (result.code) {
    case undefined:
      return Object.values(result.details)
        .flat()
        .map((text) => `${name} ${text}`);
    case 'QUOTA_EXCEEDED':
    case 'SERVICE_UNAVAILABLE':
      return [`${name} is not stored: ${result.error}`];
    case 'RATE_LIMIT_EXCEEDED':
      return [`${name} is not stored: too many files at once, try again in ${result.retryAfter} s`];
    default:
      throw new ActionFailed(result);
  }
}
