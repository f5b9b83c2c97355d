import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Context } from '@carillon/api/context';
import { openContext } from '@carillon/api/open-context';
import { describeActor, recordAudit } from '@carillon/api/platform/events/audit-log';
import { hashPassword } from '@carillon/api/product/auth/passwords';
import { endUserSessions } from '@carillon/api/product/auth/sessions';
import { hasEmail, insertAccount } from '@carillon/api/product/auth/write';
import { inTransaction } from '@carillon/api/transaction';
import { compileValidator, Email, Password, strictObject } from '@carillon/contract';
import { users } from '@carillon/db';
import { type Texts, translateApiMessage } from '@carillon/texts';
import promptPassword from '@inquirer/password';
import { and, ne } from 'drizzle-orm';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';

interface Options {
  name: string;
  passwordFile?: string;
  generate?: true;
  json?: true;
}

export const addCreateAdminCommand: AddCommand = (program, context) => {
  const { commands: texts, help } = context.texts;
  program
    .command('create-admin')
    .summary(help.createAdmin.summary)
    .description(help.createAdmin.description)
    .argument('<email>', help.createAdmin.email)
    .option('--name <name>', help.createAdmin.name, 'Admin')
    .option('--password-file <path>', help.createAdmin.passwordFile)
    .option('--generate', help.createAdmin.generate)
    .option('--json', help.json)
    .action((email: string, options: Options) =>
      withConfig(context, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          try {
            const result = await createOrPromote(ctx, email, options, context.texts);
            if (options.json) return console.log(JSON.stringify(result));
            console.log(texts.admin[result.outcome](result.email));
            if (result.password) console.log(texts.generatedPassword(result.password));
            if (!result.isActive) console.log(texts.deactivated);
          } finally {
            await close();
          }
        }),
      ),
    );
};

interface Result {
  email: string;
  outcome: keyof Texts['commands']['admin'];
  isActive: boolean;
  /** A generated one. */
  password?: string;
}

const validateEmail = compileValidator(strictObject({ email: Email }));
const validatePassword = compileValidator(strictObject({ password: Password }));

async function createOrPromote(ctx: Context, input: string, options: Options, texts: Texts): Promise<Result> {
  const validated = validateEmail({ email: input });
  if (!validated.ok)
    throw new CommandFailure(texts.commands.emailProblem(listProblems(validated.details.email, texts)));
  const { email } = validated.value;
  const [existing] = await ctx.db.select({ email: users.email }).from(users).where(hasEmail(email));
  // Asked for and hashed before the transaction: both take long.
  const password = existing ? null : await choosePassword(options, texts);
  const passwordHash = password && (await hashPassword(password));
  return inTransaction(ctx, async (tx): Promise<Result> => {
    const account = { name: options.name, email, passwordHash, role: 'ADMIN' } as const;
    const created = passwordHash ? await insertAccount(tx, account) : undefined;
    if (created) {
      await recordChange(tx, 'user.registered', created);
      const generated = options.generate && password ? { password } : {};
      return { email: created.email, outcome: 'created', isActive: true, ...generated };
    }
    const [promoted] = await tx.db
      .update(users)
      .set({ role: 'ADMIN', updatedAt: tx.now() })
      .where(and(hasEmail(email), ne(users.role, 'ADMIN')))
      .returning({ id: users.id, email: users.email, isActive: users.isActive });
    if (promoted) {
      await endUserSessions(tx, promoted.id);
      await recordChange(tx, 'user.promoted', promoted);
      return { email: promoted.email, outcome: 'promoted', isActive: promoted.isActive };
    }
    const [admin] = await tx.db
      .select({ email: users.email, isActive: users.isActive })
      .from(users)
      .where(hasEmail(email));
    if (!admin) throw new CommandFailure(texts.commands.accountDeleted);
    return { ...admin, outcome: 'unchanged' };
  });
}

const listProblems = (messages: readonly string[] = [], texts: Texts) =>
  messages.map((message) => translateApiMessage(message, texts)).join(', ');

async function choosePassword({ passwordFile, generate }: Options, texts: Texts): Promise<string> {
  const { commands } = texts;
  if (passwordFile !== undefined && generate) throw new CommandFailure(commands.onePasswordOption, 2);
  const chosen = generate
    ? // The prefix has the required characters.
      `Aa1${randomBytes(18).toString('base64url')}`
    : passwordFile === undefined
      ? await promptForPassword(commands)
      : await readPassword(passwordFile, commands);
  const validated = validatePassword({ password: chosen });
  if (!validated.ok)
    throw new CommandFailure(commands.passwordProblem(listProblems(validated.details.password, texts)));
  return chosen;
}

async function readPassword(path: string, commands: Texts['commands']): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandFailure(commands.unreadable(path, String((error as NodeJS.ErrnoException).code)));
  }
}

async function promptForPassword(commands: Texts['commands']): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new CommandFailure(commands.noTerminal, 2);
  }
  const ask = async (message: string) => {
    try {
      return await promptPassword({ message }, { output: process.stderr });
    } catch {
      throw new CommandFailure(commands.noPassword);
    }
  };
  const chosen = await ask(commands.password);
  if ((await ask(commands.repeatPassword)) !== chosen) throw new CommandFailure(commands.passwordsDiffer);
  return chosen;
}

async function recordChange(ctx: Context, kind: 'user.registered' | 'user.promoted', user: { id: number }) {
  const details = { by: 'create-admin', role: 'ADMIN' };
  await recordAudit(ctx, { kind, ...describeActor(null, user.id), details });
}
