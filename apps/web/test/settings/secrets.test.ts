import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app } = await testContext(t);
const alice = await signUpAlice(app);
const { secrets } = getTexts('en');
const PAGE = '/settings/secrets';
const SECRET = { name: 'tracker', host: 'api.example.com', header: 'Authorization', value: 'Bearer Hidden123456' };

t.test('A secret is created and deleted on the page, which never shows its value', async (t) => {
  const visitor = visit(app, alice);
  const form = await visitor.open(PAGE);
  t.match(form, { status: 200, heading: 'Secrets', text: secrets.none });
  const list = await visitor.submit(form, secrets.create, SECRET);
  t.match(list, { status: 200, url: PAGE, text: secrets.created });
  t.match(list.text, /tracker.*api\.example\.com.*Authorization.*never/);
  const again = await visitor.submit(form, secrets.create, SECRET);
  t.match(again, { status: 409, text: 'There is a secret of this name.' });
  for (const page of [list, again]) t.notMatch(page.response.body, 'Hidden123456');
  const [, id = ''] = /secrets\/([0-9a-f-]+)\/delete/.exec(list.response.body) ?? [];
  t.equal((await visit(app, await signUpBob(app)).open(`${PAGE}/${id}/delete`)).status, 404);
  const deleted = await visitor.submit(await visitor.open(`${PAGE}/${id}/delete`), secrets.deleteTitle);
  t.match(deleted, { status: 200, url: PAGE, text: secrets.deleted });
});

t.test('What is wrong is said at its field, without the value', async (t) => {
  const visitor = visit(app, alice);
  const form = await visitor.open(PAGE);
  const wrong = { name: 'My Tracker', host: 'https://a.example/', header: 'Host', value: 'Hidden123456 ü' };
  const page = await visitor.submit(form, secrets.create, wrong);
  t.equal(page.status, 422);
  for (const name of ['name', 'host', 'header', 'value']) t.ok(page.document.querySelector(`#${name}-error`), name);
  t.match(page.text, secrets.nameForm);
  t.notMatch(page.response.body, 'Hidden123456');
});
