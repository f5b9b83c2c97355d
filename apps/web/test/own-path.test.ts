import t from 'tap';
import { toOwnPath } from '../src/page.ts';

t.test('A path of this application stays, with its query', async (t) => {
  for (const path of ['/', '/tasks', '/tasks?state=active&q=a%2Fb', '/handler/x', '/a//b', '/%2F%2Fevil.example'])
    t.equal(toOwnPath(path), path);
  t.equal(toOwnPath('/tasks/../settings#keys'), '/settings');
});

t.test('What a browser reads as another host becomes the first page', async (t) => {
  const starts = [
    '//',
    '/\\',
    '\\\\',
    '/./',
    '/.//',
    '/.\\/',
    '/..//',
    '/%2e//',
    '/%2E%2e//',
    '/x/..//',
    '/.\t//',
    '/\t/',
    '/\n/',
  ];
  const more = ['/\r/', '/./\t/', '/\\\\', '/x/%2e%2e/\\', 'https://', 'javascript:', ' //', ''];
  for (const start of [...starts, ...more]) {
    const own = toOwnPath(`${start}evil.example/`);
    const { host } = new URL(own, 'https://carillon.example/sign-in');
    t.equal(host, 'carillon.example', JSON.stringify(start));
    t.notMatch(own, /^\/[/\\]/, JSON.stringify(start));
  }
  for (const value of [undefined, null, 1, ['/tasks'], {}]) t.equal(toOwnPath(value), '/');
});
