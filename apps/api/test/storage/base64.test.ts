import { Readable } from 'node:stream';
import t from 'tap';
import { loadConfig } from '../../src/config/config.ts';
import { createFileStorage } from '../../src/storage/client.ts';

const files = createFileStorage(loadConfig({ NODE_ENV: 'test' }));
const urlOf = (type: string) => files.store('x', Readable.from([Buffer.from('é')]), { name: 'x', type });

t.test('A data URL contains the bytes, with the type if a browser only shows it', async (t) => {
  for (const type of ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'application/pdf']) {
    t.equal(await urlOf(type), `data:${type};base64,w6k=`);
  }
});

t.test('Texts are declared as plain text, and unknown types as bytes', async (t) => {
  for (const type of ['text/plain', 'text/markdown', 'text/csv', 'application/json', 'text/html']) {
    t.equal(await urlOf(type), 'data:text/plain;charset=utf-8;base64,w6k=');
  }
  for (const type of ['image/svg+xml', 'application/xhtml+xml', 'x;base64,x']) {
    t.equal(await urlOf(type), 'data:application/octet-stream;base64,w6k=');
  }
});
