import { openContext } from '@carillon/api/open-context';
import { resetFactors } from '@carillon/api/product/auth/factors/write';
import { hasEmail } from '@carillon/api/product/auth/write';
import { users } from '@carillon/db';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';

export const addResetFactorsCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('reset-factors')
    .summary(help.resetFactors.summary)
    .description(help.resetFactors.description)
    .argument('<email>', help.resetFactors.email)
    .action((email: string) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          try {
            const [user] = await ctx.db.select({ id: users.id, email: users.email }).from(users).where(hasEmail(email));
            if (!user) throw new CommandFailure(texts.noSuchAccount);
            const removed = await resetFactors(ctx, user.id, 'reset-factors');
            console.log(texts.factorsRemoved(user.email, removed));
          } finally {
            await close();
          }
        }),
      ),
    );
};
