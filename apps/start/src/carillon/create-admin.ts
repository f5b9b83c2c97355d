import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { recordAudit } from '@carillon/api/audit/record';
import { hashPassword } from '@carillon/api/auth/passwords';
import { endUserSessions } from '@carillon/api/auth/sessions';
import { hasEmail, insertAccount } from '@carillon/api/auth/write';
import { type Context, inTransaction } from '@carillon/api/context';
import { openContext } from '@carillon/api/open-context';
import { compileValidator, Email, Password, strictObject } from '@carillon/contract';
import { users } from '@carillon/db';
import password from '@inquirer/password';
import { and, ne } from 'drizzle-orm';
import { type AddCommand, CommandFailure, withConfig, withDatabase } from './command.ts';
import { inParagraphs } from './wording.ts';

interface Options {
  name: string;
  passwordFile?: string;
  generate?: true;
  json?: true;
}

/** `pnpm carillon create-admin <email>`. */
export const createAdminCommand: AddCommand = (program, surroundings) => {
  program
    .command('create-admin')
    .summary('create an account of an admin, or promote one')
    .description(
      inParagraphs(`Creates an account of an admin. One that exists is promoted: it keeps its password, and has to sign in again.
Without an option the password is asked for; it takes at least 8 characters with an upper-case letter, a lower-case letter
and a digit. The schema has to be there: start Carillon once before. It is written to the audit log.`),
    )
    .argument('<email>', 'the address that the admin signs in with')
    .option('--name <name>', 'what the new account is called', 'Admin')
    .option('--password-file <path>', 'read the password of the new account from a file')
    .option('--generate', 'make a password for the new account, and print it this once')
    .option('--json', 'tell what was done as JSON')
    .action((email: string, options: Options) =>
      withConfig(surroundings, (config) =>
        withDatabase(config, async (url) => {
          const { ctx, close } = await openContext({ ...config, logLevel: 'silent' }, url);
          try {
            const done = await makeAdmin(ctx, email, options);
            if (options.json) return console.log(JSON.stringify(done));
            console.log(`${done.email} ${WORDS[done.outcome]}.`);
            if (done.password) console.log(`Its password, which is shown this once: ${done.password}`);
            if (!done.isActive) console.log('The account is deactivated: another admin can activate it.');
          } finally {
            await close();
          }
        }),
      ),
    );
};

const WORDS = {
  created: 'has an account of an admin now',
  promoted: 'is an admin now; the password is the one of before',
  unchanged: 'was an admin already',
} as const;

interface Outcome {
  email: string;
  outcome: keyof typeof WORDS;
  isActive: boolean;
  /** Only one that was generated. */
  password?: string;
}

const checkAddress = compileValidator(strictObject({ email: Email }));
const checkPassword = compileValidator(strictObject({ password: Password }));

async function makeAdmin(ctx: Context, given: string, options: Options): Promise<Outcome> {
  const checked = checkAddress({ email: given });
  if (!checked.ok) throw new CommandFailure(`The address ${(checked.details.email ?? []).join(', ')}.`);
  const { email } = checked.value;
  const [known] = await ctx.db.select({ email: users.email }).from(users).where(hasEmail(email));
  const secret = known ? null : await choosePassword(options);
  const passwordHash = secret && (await hashPassword(secret));
  return inTransaction(ctx, async (tx): Promise<Outcome> => {
    const account = { name: options.name, email, passwordHash, role: 'ADMIN' } as const;
    const created = passwordHash ? await insertAccount(tx, account) : undefined;
    if (created) {
      await tell(tx, 'user.registered', created);
      const shown = options.generate ? { password: secret as string } : {};
      return { email: created.email, outcome: 'created', isActive: true, ...shown };
    }
    const [promoted] = await tx.db
      .update(users)
      .set({ role: 'ADMIN', updatedAt: tx.now() })
      .where(and(hasEmail(email), ne(users.role, 'ADMIN')))
      .returning({ id: users.id, email: users.email, isActive: users.isActive });
    if (promoted) {
      await endUserSessions(tx, promoted.id);
      await tell(tx, 'user.promoted', promoted);
      return { email: promoted.email, outcome: 'promoted', isActive: promoted.isActive };
    }
    const [admin] = await tx.db
      .select({ email: users.email, isActive: users.isActive })
      .from(users)
      .where(hasEmail(email));
    if (!admin) throw new CommandFailure('The account has just been deleted: try again.');
    return { ...admin, outcome: 'unchanged' };
  });
}

async function choosePassword({ passwordFile, generate }: Options): Promise<string> {
  if (passwordFile !== undefined && generate)
    throw new CommandFailure('Take --password-file or --generate, not both.', 2);
  const chosen = generate
    ? // With a letter of each case and a digit in front, whatever the rest is.
      `Aa1${randomBytes(18).toString('base64url')}`
    : passwordFile === undefined
      ? await askForPassword()
      : await readPassword(passwordFile);
  const checked = checkPassword({ password: chosen });
  if (!checked.ok) throw new CommandFailure(`The password ${(checked.details.password ?? []).join(', ')}.`);
  return chosen;
}

async function readPassword(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function askForPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new CommandFailure('There is no terminal to ask for the password: take --password-file or --generate.', 2);
  }
  const ask = async (message: string) => {
    try {
      return await password({ message }, { output: process.stderr });
    } catch {
      throw new CommandFailure('No password, no account: nothing was changed.');
    }
  };
  const chosen = await ask('Password');
  if ((await ask('The same again')) !== chosen) throw new CommandFailure('The two differ: nothing was changed.');
  return chosen;
}

async function tell(ctx: Context, kind: 'user.registered' | 'user.promoted', user: { id: number }) {
  const details = { by: 'create-admin', role: 'ADMIN' };
  await recordAudit(ctx, { kind, actorId: null, actorEmail: null, userId: user.id, details });
}
