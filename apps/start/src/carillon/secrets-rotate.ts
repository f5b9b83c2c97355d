import type { Config } from '@carillon/api/lib/config/config';
import { rotateKeys } from '@carillon/api/lib/crypto/rotate-keys';
import { connect } from '@carillon/db';
import type { Texts } from '@carillon/texts';
import { type AddCommand, withConfig, withDatabase } from './command.ts';

const STATEMENT_TIMEOUT_MS = 60_000;
const FAILED = 2;

export const addSecretsCommand: AddCommand = (program, context) => {
  const { help } = context.texts;
  program
    .command('secrets')
    .summary(help.secrets.summary)
    .description(help.secrets.description)
    .command('rotate')
    .summary(help.rotateSecrets.summary)
    .description(help.rotateSecrets.description)
    .action(() =>
      withConfig(
        context,
        (config) =>
          withDatabase(config, async (url) => {
            if (!(await rotateAll(url, config, context.texts))) context.setExitCode(1);
          }),
        FAILED,
      ),
    );
};

/** Returns whether only the first key is needed from now on. */
async function rotateAll(url: string, { encryptionKeys }: Config, { commands }: Texts): Promise<boolean> {
  const { db, close } = connect(url, { max: 1, deadlineMs: STATEMENT_TIMEOUT_MS });
  try {
    const key = encryptionKeys[0]?.id ?? '';
    let failed = 0;
    let changed = 0;
    for await (const rotation of rotateKeys(db, encryptionKeys)) {
      console.log(commands.reencrypted(rotation.column, rotation.reencrypted, key));
      for (const failure of rotation.failures) console.error(failure);
      failed += rotation.failures.length;
      changed += rotation.changedMeanwhile;
    }
    if (failed > 0) console.error(commands.undecryptable(failed));
    else if (changed > 0) console.log(commands.secretsChanged(changed));
    else console.log(commands.secretsDone(key));
    return failed + changed === 0;
  } finally {
    await close();
  }
}
