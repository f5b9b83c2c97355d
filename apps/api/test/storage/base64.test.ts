import { Readable } from 'node:stream';
import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { createFileStorage } from '../../src/lib/storage/client.ts';

const files = createFileStorage(loadConfig({ NODE_ENV: 'test' }));
const urlOf = (type: string) => files.store('x', Readable.from([Buffer.from('é')]), { name: 'x', type });

t.test('A data URL contains the bytes and the type of the record', async (t) => {
  for (const type of ['image/png', 'application/pdf', 'text/plain', 'text/markdown', 'text/csv', 'application/json']) {
    t.equal(await urlOf(type), `data:${type};base64,w6k=`);
  }
});
