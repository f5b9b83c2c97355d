import type { Config } from '@carillon/api/config/config';
import { rotateKeys } from '@carillon/api/crypto/rotate-keys';
import { connect } from '@carillon/db';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { inParagraphs } from './wording.ts';

/** Nobody waits for this but the operator. */
const DEADLINE_MS = 60_000;
const CANNOT_TELL = 2;

/** `pnpm carillon secrets rotate`. */
export const secretsCommand: AddCommand = (program, surroundings) => {
  program
    .command('secrets')
    .summary('seal the secrets in the database anew')
    .description('Commands about the secrets that are sealed in the database.')
    .command('rotate')
    .summary('seal every secret under the first key of ENCRYPTION_KEY')
    .description(
      inParagraphs(`Seals every secret in the database under the first key of ENCRYPTION_KEY. It can be run while the service works, and
again. Ends with 0 when the other keys can be taken out, with 1 when something still needs one, and with 2 when it cannot
tell.`),
    )
    .action(() =>
      withConfig(
        surroundings,
        (config) =>
          withDatabase(config, async (url) => {
            if (!(await rotate(url, config))) surroundings.endWith(1);
          }),
        CANNOT_TELL,
      ),
    );
};

/** Whether nothing needs any key but the first one from now on. */
async function rotate(url: string, { encryptionKeys }: Config): Promise<boolean> {
  const { db, close } = connect(url, { max: 1, deadlineMs: DEADLINE_MS });
  try {
    const key = encryptionKeys[0]?.id;
    let failed = 0;
    let overtaken = 0;
    for await (const rotation of rotateKeys(db, encryptionKeys)) {
      console.log(`${rotation.column}: ${rotation.reencrypted} sealed anew under the key "${key}"`);
      for (const failure of rotation.failures) console.error(failure);
      failed += rotation.failures.length;
      overtaken += rotation.changedMeanwhile;
    }
    if (failed > 0) console.error(`${failed} secrets cannot be opened with the keys that ENCRYPTION_KEY lists.`);
    else if (overtaken > 0)
      console.log(`${overtaken} secrets changed meanwhile: run this once more to be sure of them.`);
    else console.log(`Every secret is sealed under the key "${key}": ENCRYPTION_KEY needs no other.`);
    return failed + overtaken === 0;
  } finally {
    await close();
  }
}
