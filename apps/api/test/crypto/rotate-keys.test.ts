import { randomBytes, randomUUID } from 'node:crypto';
import * as tables from '@carillon/db';
import { endpoints, factors, mails, taskSources, users } from '@carillon/db';
import { eq, getTableName, isTable } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import t from 'tap';
import type { EncryptionKey } from '../../src/lib/config/secrets.ts';
import {
  columnAad,
  decrypt,
  decryptProviderKey,
  ENCRYPTED_COLUMNS,
  encrypt,
  encryptProviderKey,
} from '../../src/lib/crypto/encryption.ts';
import { type Rotation, rotateKeys } from '../../src/lib/crypto/rotate-keys.ts';
import { decryptBody, queueMail } from '../../src/lib/mail/queue.ts';
import { useTotpStep } from '../../src/product/auth/factors/codes.ts';
import { decryptSecret } from '../../src/product/deliveries/queue/secret.ts';
import { takeSecret } from '../../src/product/secrets/read.ts';
import { testContext } from '../support/context.ts';
import { post, readCode } from '../support/factors.ts';
import { createTaskWithKey } from '../support/idempotency.ts';
import { signUpAlice } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';
import { callWebhook, postWebhook } from '../support/webhooks.ts';

const newKey = (id: string): EncryptionKey => ({ id, key: randomBytes(32) });
const [old, fresh] = [newKey('old'), newKey('new')];
const toSetting = (...keys: EncryptionKey[]) => keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');

const { ctx, app } = await testContext(t, { env: { ENCRYPTION_KEY: toSetting(old) } });
const withKeys = (...encryptionKeys: EncryptionKey[]) => ({ ...ctx, config: { ...ctx.config, encryptionKeys } });
const alice = await signUpAlice(app);

async function rotate(...keys: EncryptionKey[]): Promise<Record<string, Omit<Rotation, 'column'>>> {
  const done: Record<string, Omit<Rotation, 'column'>> = {};
  for await (const { column, ...rotation } of rotateKeys(ctx.db, keys)) done[column] = rotation;
  return done;
}

const result = (reencrypted: number) => ({ reencrypted, changedMeanwhile: 0, failures: [] });

async function insertKeys(count: number, name: string): Promise<Map<number, string>> {
  const values = Array.from({ length: count }, (_, n) => ({
    identityUserId: `${name}:${n}`,
    email: `${name}-${n}@example.com`,
    name: 'Person',
  }));
  const inserted = await ctx.db.insert(users).values(values).returning({ id: users.id });
  const keys = new Map(inserted.map(({ id }) => [id, `sk-${name}-${id}`]));
  for (const [id, key] of keys) {
    await ctx.db
      .update(users)
      .set({ providerKeyEncrypted: encryptProviderKey(ctx, id, key) })
      .where(eq(users.id, id));
  }
  return keys;
}

async function insertSource(text: string): Promise<string> {
  const taskId = await postTask(app, alice);
  const id = randomUUID();
  const textEncrypted = encrypt([old], text, columnAad('task_sources.text_encrypted', id));
  await ctx.db.insert(taskSources).values({ id, taskId, name: 'page', definition: 'a', textEncrypted });
  return id;
}

t.test('Every encrypted column of the schema is rotated', async (t) => {
  const found = Object.values(tables)
    .filter((table) => isTable(table))
    .flatMap((table) => getTableConfig(table as PgTable).columns.map(({ name }) => `${getTableName(table)}.${name}`))
    .filter((name) => name.endsWith('_encrypted'));
  t.same(found.sort(), Object.keys(ENCRYPTED_COLUMNS).sort());
});

t.test('Everything encrypted with an old key is decrypted with only the new key after a rotation', async (t) => {
  await app.inject({
    method: 'PATCH',
    url: '/api/user',
    headers: alice.headers,
    payload: { encryptedProviderKey: 'sk-of-alice' },
  });
  const webhook = await postWebhook(app, alice);
  const rotated = await callWebhook(app, alice, 'POST', webhook.id, '/rotate-secret');
  const { secret } = rotated.json().webhook;
  await queueMail(ctx, { to: 'alice@example.com', subject: 'Hello', text: 'A link to keep.' });
  await createTaskWithKey(app, alice, 'a-key');
  const source = await insertSource('What the page says.');
  const secretOfSource = {
    name: 'tracker',
    host: 'api.example.com',
    header: 'Authorization',
    value: 'Bearer of-alice',
  };
  await post(app, '/api/secrets', alice.headers, secretOfSource);
  const totp = (await post(app, '/api/user/factors/totp', alice.headers, {})).json().secret;

  t.same(await rotate(fresh, old), {
    'users.provider_key_encrypted': result(1),
    'endpoints.secret_encrypted': result(1),
    'endpoints.previous_secret_encrypted': result(1),
    'mails.body_encrypted': result(1),
    'idempotency_keys.answer_encrypted': result(1),
    'providers.api_key_encrypted': result(0),
    'factors.secret_encrypted': result(1),
    'task_sources.text_encrypted': result(1),
    'secrets.value_encrypted': result(1),
  });
  const later = withKeys(fresh);
  const [user] = await ctx.db.select().from(users).where(eq(users.id, alice.id));
  t.equal(decryptProviderKey(later, alice.id, user?.providerKeyEncrypted ?? null), 'sk-of-alice');
  const [stored] = await ctx.db.select().from(endpoints);
  t.equal(decryptSecret(later, webhook.id, stored?.secretEncrypted ?? ''), secret);
  t.equal(
    decryptSecret(later, webhook.id, stored?.previousSecretEncrypted ?? '', 'previous_secret_encrypted'),
    webhook.secret,
  );
  const [factor] = await ctx.db.select().from(factors);
  t.ok(factor && (await useTotpStep(later, factor, readCode(totp, ctx.now()))));
  const [mail] = await ctx.db.select().from(mails);
  t.equal(decryptBody(later, mail?.id ?? '', mail?.bodyEncrypted ?? ''), 'A link to keep.');
  const [read] = await ctx.db.select().from(taskSources);
  const aad = columnAad('task_sources.text_encrypted', source);
  t.equal(decrypt([fresh], read?.textEncrypted ?? '', aad), 'What the page says.');

  t.same(await takeSecret(later, alice.id, 'tracker', 'https://api.example.com/'), {
    name: 'Authorization',
    value: 'Bearer of-alice',
  });

  ctx.config.encryptionKeys.splice(0, 1, fresh);
  t.equal(
    (await app.inject(`/api/webhooks/${alice.id}/${secret}`)).statusCode,
    200,
    'the inbound path of the webhook is found',
  );
  ctx.config.encryptionKeys.splice(0, 1, old);
});

t.test('A second rotation changes nothing, and a rotation with the keys swapped changes everything back', async (t) => {
  t.same(Object.values(await rotate(fresh, old)), Array(9).fill(result(0)));
  t.same(Object.values(await rotate(old, fresh)), [
    ...Array(5).fill(result(1)),
    result(0),
    ...Array(3).fill(result(1)),
  ]);
});

t.test('Thousands of values are rotated in batches', async (t) => {
  const keys = await insertKeys(1201, 'many');
  t.match(await rotate(fresh, old), { 'users.provider_key_encrypted': result(1202) });
  for (const { id, providerKeyEncrypted } of await ctx.db.select().from(users)) {
    if (keys.has(id)) t.equal(decryptProviderKey(withKeys(fresh), id, providerKeyEncrypted), keys.get(id));
  }
});

t.test('A value that is saved during the rotation, with either key, is not overwritten', async (t) => {
  const keys = await insertKeys(600, 'busy');
  let isDone = false;
  const saving = Promise.all(
    [withKeys(old), withKeys(fresh, old)].map(async (process, n) => {
      const ids = [...keys.keys()].filter((id) => id % 2 === n);
      for (let round = 0; !isDone; round++) {
        const id = ids[round % ids.length] as number;
        keys.set(id, `sk-new-${id}-${round}`);
        const providerKeyEncrypted = encryptProviderKey(process, id, keys.get(id) as string);
        await ctx.db.update(users).set({ providerKeyEncrypted }).where(eq(users.id, id));
      }
    }),
  );
  await rotate(fresh, old);
  isDone = true;
  await saving;
  for (const { id, providerKeyEncrypted } of await ctx.db.select().from(users)) {
    if (keys.has(id)) t.equal(decryptProviderKey(withKeys(fresh, old), id, providerKeyEncrypted), keys.get(id));
  }
  await rotate(fresh, old);
  t.match(await rotate(fresh), { 'users.provider_key_encrypted': result(0) });
});

t.test('A value that cannot be decrypted is reported by column and row, and the others are rotated', async (t) => {
  const keys = [...(await insertKeys(3, 'lost')).keys()] as [number, number, number];
  const aad = columnAad('users.provider_key_encrypted', keys[1]);
  const ciphertext = encrypt([newKey('gone')], 'sk-lost', aad);
  await ctx.db.update(users).set({ providerKeyEncrypted: ciphertext }).where(eq(users.id, keys[1]));
  t.match(await rotate(fresh, old), {
    'users.provider_key_encrypted': {
      reencrypted: 2,
      failures: [`${aad} is encrypted with key "gone", which ENCRYPTION_KEY does not list.`],
    },
  });
});
