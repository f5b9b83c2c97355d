import { openContext } from '@carillon/api/open-context';
import { buildSetupPath, hasAccounts } from '@carillon/api/product/auth/setup/link';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';

export const addSetupLinkCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('setup-link')
    .summary(help.setupLink.summary)
    .description(help.setupLink.description)
    .action(() =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          if (!config.dashboard) throw new CommandFailure(texts.noPages);
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          try {
            const isUsed = await hasAccounts(ctx).catch((error) => {
              // The first start makes the tables.
              if (databaseErrorCode(error) === SQLSTATE.undefinedTable) return false;
              throw error;
            });
            if (isUsed) throw new CommandFailure(texts.hasAccount);
            console.log(`${config.appUrl}${buildSetupPath(ctx)}`);
          } finally {
            await close();
          }
        }),
      ),
    );
};
