import { openContext } from '@carillon/api/open-context';
import { resetFactors } from '@carillon/api/product/auth/factors/write';
import { hasEmail } from '@carillon/api/product/auth/write';
import { users } from '@carillon/db';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';
import { joinParagraphLines } from './formatting.ts';

const DESCRIPTION = `Deletes the second factors and the recovery codes of an account, for a person who has lost them, and ends its
sessions and unfinished sign-ins. The password stays. Make sure first that the account is theirs. The account gets a mail, and the
audit log records it.`;

export const addResetFactorsCommand: AddCommand = (program, context) => {
  program
    .command('reset-factors')
    .summary('remove the second factors of an account')
    .description(joinParagraphLines(DESCRIPTION))
    .argument('<email>', 'the e-mail address of the account')
    .action((email: string) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          try {
            const [user] = await ctx.db.select({ id: users.id, email: users.email }).from(users).where(hasEmail(email));
            if (!user) throw new CommandFailure('No account has this e-mail address.');
            const removed = await resetFactors(ctx, user.id, 'reset-factors');
            console.log(`Second factors of ${user.email} removed: ${removed}. All its sessions have ended.`);
          } finally {
            await close();
          }
        }),
      ),
    );
};
