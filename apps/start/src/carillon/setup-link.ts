import { openContext } from '@carillon/api/open-context';
import { buildSetupPath, hasAccounts } from '@carillon/api/product/auth/setup/link';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';
import { joinParagraphLines } from './formatting.ts';

const DESCRIPTION = `Prints the address of a page that makes the first admin account. It works for an hour, and only while there is
no account. The database must have its tables: start Carillon once before.`;

export const addSetupLinkCommand: AddCommand = (program, context) => {
  const texts = context.texts.commands;
  program
    .command('setup-link')
    .summary('print a link to a page that creates the first admin')
    .description(joinParagraphLines(DESCRIPTION))
    .action(() =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          if (!config.dashboard) throw new CommandFailure(texts.noPages);
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          try {
            if (await hasAccounts(ctx)) throw new CommandFailure(texts.hasAccount);
            console.log(`${config.appUrl}${buildSetupPath(ctx)}`);
          } finally {
            await close();
          }
        }),
      ),
    );
};
