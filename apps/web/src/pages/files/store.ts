import type { ActionError } from '@carillon/contract/actions/index';
import { type Texts, translateApiMessage } from '@carillon/texts';
import { readFiles } from '../../http/sent-files.ts';
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
      problems.push(context.texts.files.tooLarge(name));
      continue;
    }
    const result = await context.actions.uploadFile(context.session, { name, type, bytes: toStream(bytes) });
    if (result.success) ids.push(result.data.id);
    else problems.push(...describeProblems(context.texts, name, result));
  }
  return { ids, problems };
}

function describeProblems(texts: Texts, name: string, result: ActionError): string[] {
  const { files, formats } = texts;
  switch (result.code) {
    case undefined:
      return Object.values(result.details)
        .flat()
        .map((text) => `${name} ${translateApiMessage(text, texts)}`);
    case 'QUOTA_EXCEEDED':
    case 'SERVICE_UNAVAILABLE':
      return [files.notStored(name, translateApiMessage(result.error, texts))];
    case 'RATE_LIMIT_EXCEEDED':
      return [files.notStored(name, files.tooMany(formats.duration(result.retryAfter * 1000)))];
    default:
      throw new ActionFailed(result);
  }
}
