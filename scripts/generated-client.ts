import { generateClient } from '../packages/client/generate/generate-client.ts';
import { readDocument } from './read-document.ts';

/** The generated files of the client package, by their path from the root of the repository. */
export async function generateClientFiles(): Promise<Record<string, string>> {
  const files = await generateClient(await readDocument());
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`packages/client/src/generated/${name}`, text]),
  );
}
