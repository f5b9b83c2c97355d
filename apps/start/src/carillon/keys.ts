import { openContext } from '@carillon/api/open-context';
import { apiKeyFields } from '@carillon/api/product/auth/keys/read';
import { revokeApiKeys } from '@carillon/api/product/auth/keys/write';
import { hasEmail } from '@carillon/api/product/auth/write';
import { isUuid } from '@carillon/contract/validation/formats';
import { apiKeys, users } from '@carillon/db';
import type { Texts } from '@carillon/texts';
import { desc, eq } from 'drizzle-orm';
import { type AddCommand, type CommandContext, CommandFailure, withConfig, withDatabase } from './command.ts';

type Context = Awaited<ReturnType<typeof openContext>>['ctx'];

interface ListOptions {
  user: string;
  json?: true;
}

interface RevokeOptions {
  user: string;
  all?: true;
}

export const addKeysCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  const keys = program.command('keys').summary(help.keys.summary).description(help.keys.description);
  keys
    .command('list')
    .summary(help.listKeys.summary)
    .description(help.listKeys.description)
    .requiredOption('--user <email>', help.keys.user)
    .option('--json', help.listKeys.json)
    .action(({ user, json }: ListOptions) =>
      withUser(context, user, async (ctx, userId) => {
        const found = await ctx.db
          .select(apiKeyFields)
          .from(apiKeys)
          .where(eq(apiKeys.userId, userId))
          .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id));
        if (json) return console.log(JSON.stringify(found));
        for (const key of found) console.log(describeKey(key, ctx.now(), texts));
        console.log(texts.keysOf(user, found.length));
      }),
    );
  keys
    .command('revoke')
    .summary(help.revokeKeys.summary)
    .description(help.revokeKeys.description)
    .argument('[id...]', help.revokeKeys.ids)
    .requiredOption('--user <email>', help.keys.user)
    .option('--all', help.revokeKeys.all)
    .action((ids: string[], { user, all }: RevokeOptions) => {
      if (all ? ids.length > 0 : ids.length === 0) throw new CommandFailure(texts.idsOrAll, USAGE_ERROR);
      const unknown = ids.find((id) => !isUuid(id));
      if (unknown !== undefined) throw new CommandFailure(texts.notKeyId(unknown), USAGE_ERROR);
      return withUser(context, user, async (ctx, userId) => {
        for (const id of all ? [undefined] : ids) {
          const revoked = await revokeApiKeys(ctx, userId, id);
          for (const key of revoked) console.log(texts.revoked(`${key.id} ${key.prefix}… ${JSON.stringify(key.name)}`));
          if (id !== undefined && revoked.length === 0) throw new CommandFailure(texts.noKey(user, id));
        }
        if (all) console.log(texts.noKeysLeft(user));
      });
    });
};

const USAGE_ERROR = 2;

/** Throws a `CommandFailure` if no account has the address. */
const withUser = (context: CommandContext, email: string, work: (ctx: Context, userId: number) => Promise<void>) =>
  withConfig(context, (config) =>
    withDatabase(config, async (url) => {
      const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
      try {
        const [account] = await ctx.db.select({ id: users.id }).from(users).where(hasEmail(email));
        if (!account) throw new CommandFailure(context.texts.commands.noAccount(email));
        await work(ctx, account.id);
      } finally {
        await close();
      }
    }),
  );

type Key = Pick<typeof apiKeys.$inferSelect, 'id' | 'prefix' | 'name' | 'scopes' | 'expiresAt' | 'lastUsedAt'>;

function describeKey(
  { id, prefix, name, scopes, expiresAt, lastUsedAt }: Key,
  now: Date,
  texts: Texts['commands'],
): string {
  const expiry =
    expiresAt === null ? texts.noExpiry : texts[expiresAt <= now ? 'expired' : 'expires'](expiresAt.toISOString());
  const use = lastUsedAt === null ? texts.neverUsed : texts.lastUsed(lastUsedAt.toISOString());
  return `${id}  ${prefix}…  ${JSON.stringify(name)}  ${scopes.join(' ')}  ${expiry}  ${use}`;
}
