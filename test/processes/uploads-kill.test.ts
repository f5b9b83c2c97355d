import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orphanedObjects } from '@carillon/db';
import t from 'tap';
import { deleteOrphanedObjects } from '../../apps/api/src/product/uploads/orphaned-objects.ts';
import { LEASE_MS, MAX_CONCURRENT_UPLOADS } from '../../apps/api/src/product/uploads/reservation.ts';
import { testContext } from '../../apps/api/test/support/context.ts';
import { type Person, signUp } from '../../apps/api/test/support/people.ts';
import { until } from '../../apps/api/test/support/until.ts';
import {
  buildForm,
  buildText,
  FORM,
  MIB,
  NO_UPLOADS,
  readUploadState,
  upload,
} from '../../apps/api/test/support/uploads.ts';
import { startApiProcess } from './api-process.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'carillon-uploads-'));
t.teardown(() => rmSync(DATA_DIR, { recursive: true, force: true }));
const env = { STORAGE_DRIVER: 'disk', DATA_DIR };
const { app, ctx, clock, databaseUrl } = await testContext(t, { env });

/** Starts an upload that stalls halfway. */
function beginUpload(url: string, { headers }: Person, form: Buffer) {
  const client = request(`${url}/api/upload`, { method: 'POST', headers: { ...headers, ...FORM } });
  client.on('error', () => {});
  client.write(form.subarray(0, form.length / 2));
}

t.test('A process killed during uploads leaves only files that the next cleanup deletes', async (t) => {
  // The process runs by the real clock.
  clock.set(new Date());
  const alice = await signUp(app);
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline', env });
  const form = buildForm({ content: buildText(8 * MIB) });
  for (let i = 0; i < MAX_CONCURRENT_UPLOADS; i++) beginUpload(api.url, alice, form);
  const folder = join(DATA_DIR, 'files');
  const sizes = () => readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  await until(() => sizes().length === MAX_CONCURRENT_UPLOADS && sizes().every((size) => size > MIB));
  t.equal((await upload(app, alice, { content: 'hello' })).statusCode, 429, 'they take every slot');
  await api.end('SIGKILL');
  t.match(await readUploadState(ctx, alice), {
    rows: 0,
    loose: MAX_CONCURRENT_UPLOADS,
    objects: MAX_CONCURRENT_UPLOADS,
    bytes: 0,
  });

  t.equal(await deleteOrphanedObjects(ctx), 0, 'not before the lease ends');
  const ends = (await ctx.db.select().from(orphanedObjects)).map(({ deleteAfter }) => deleteAfter.getTime());
  t.ok(Math.max(...ends) - ctx.now().getTime() < LEASE_MS + 60_000);
  clock.set(new Date(Math.max(...ends)));
  t.equal(await deleteOrphanedObjects(ctx), MAX_CONCURRENT_UPLOADS);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
  t.equal((await upload(app, alice, { content: 'hello' })).statusCode, 200, 'the slots are free again');
});
