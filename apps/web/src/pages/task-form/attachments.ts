import type { UserPageContext } from '../../page.ts';
import { storeFiles } from '../files/store.ts';
import type { FormValues } from './form-values.ts';

/** Stores the files of the form, and adds them to the attachments. Returns what is wrong with the others. */
export async function attachFiles(
  context: UserPageContext,
  values: FormValues,
): Promise<{ values: FormValues; problems: string[] }> {
  const { ids, problems } = await storeFiles(context);
  return { values: { ...values, attachments: [...values.attachments, ...ids] }, problems };
}
