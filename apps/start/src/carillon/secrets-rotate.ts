import type { Config } from '@carillon/api/lib/config/config';
import { rotateKeys } from '@carillon/api/lib/crypto/rotate-keys';
import { connect } from '@carillon/db';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { joinParagraphLines } from './formatting.ts';

const STATEMENT_TIMEOUT_MS = 60_000;
const FAILED = 2;

const DESCRIPTION = `Encrypts every secret in the database with the first key of ENCRYPTION_KEY. The service can run
at the same time. The exit code is 0 if the other keys can be removed, 1 if one of them is still needed, and 2 for a failure.`;

export const addSecretsCommand: AddCommand = (program, context) => {
  program
    .command('secrets')
    .summary('rotate the encryption key of the secrets in the database')
    .description('Commands for the encrypted secrets in the database.')
    .command('rotate')
    .summary('encrypt every secret with the first key of ENCRYPTION_KEY')
    .description(joinParagraphLines(DESCRIPTION))
    .action(() =>
      withConfig(
        context,
        (config) =>
          withDatabase(config, async (url) => {
            if (!(await rotateAll(url, config))) context.setExitCode(1);
          }),
        FAILED,
      ),
    );
};

/** Returns whether only the first key is needed from now on. */
async function rotateAll(url: string, { encryptionKeys }: Config): Promise<boolean> {
  const { db, close } = connect(url, { max: 1, deadlineMs: STATEMENT_TIMEOUT_MS });
  try {
    const key = encryptionKeys[0]?.id;
    let failed = 0;
    let changed = 0;
    for await (const rotation of rotateKeys(db, encryptionKeys)) {
      console.log(`${rotation.column}: ${rotation.reencrypted} encrypted again with the key "${key}"`);
      for (const failure of rotation.failures) console.error(failure);
      failed += rotation.failures.length;
      changed += rotation.changedMeanwhile;
    }
    if (failed > 0) console.error(`Secrets that no key of ENCRYPTION_KEY decrypts: ${failed}.`);
    else if (changed > 0) console.log(`Secrets that changed during the command: ${changed}. Run it again.`);
    else console.log(`Every secret is encrypted with the key "${key}". Other keys can be removed from ENCRYPTION_KEY.`);
    return failed + changed === 0;
  } finally {
    await close();
  }
}
