import type { SignedInVisit } from '../../visit.ts';
import { storeFiles } from '../files/store.ts';
import type { Typed } from './typed.ts';

/** Stores the files of the form, and adds them to the attachments. Returns what is wrong with the others. */
export async function attachFiles(visit: SignedInVisit, typed: Typed): Promise<{ typed: Typed; problems: string[] }> {
  const { ids, problems } = await storeFiles(visit);
  return { typed: { ...typed, attachments: [...typed.attachments, ...ids] }, problems };
}
