import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { PASSWORD, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app } = await testContext(t);
const PORTUGUESE = 'pt-BR,pt;q=0.9';

const languageOf = (body: string) => /<html lang="([^"]+)"/.exec(body)?.[1];

t.test('Pages without a session are in the language of the browser', async (t) => {
  const open = (url: string, accept: string) =>
    app.inject({ url, headers: { accept: 'text/html', 'accept-language': accept } });
  for (const [url, heading] of Object.entries({
    '/sign-in': 'Entrar',
    '/register': 'Criar uma conta',
    '/forgot-password': 'Redefina sua senha',
    '/nothing': 'Página não encontrada',
  })) {
    const { body } = await open(url, PORTUGUESE);
    t.equal(languageOf(body), 'pt-BR', url);
    t.match(body, `<h1>${heading}</h1>`, url);
    t.equal(languageOf((await open(url, 'de')).body), 'en', url);
  }
});

t.test('A visitor who registers in Portuguese gets Portuguese pages, in any browser', async (t) => {
  const visitor = visit(app, null, PORTUGUESE);
  const values = { name: 'Nina', email: 'nina@example.com', password: PASSWORD };
  const home = await visitor.submit(await visitor.open('/register'), 'Criar conta', values);
  t.match(home, { url: '/', heading: 'Início', text: /Nenhuma execução planejada/ });
  const other = visit(app);
  const signIn = { email: values.email, password: PASSWORD };
  const page = await other.submit(await other.open('/sign-in'), 'Sign in', signIn);
  t.match(page, { heading: 'Início' });
  t.match(page.document.querySelector('nav')?.text, /Tarefas\s*Execuções[\s\S]*Sair/);
  t.match(await other.open('/tasks/999'), { status: 404, heading: 'Página não encontrada' });
});

t.test('The settings change the language, of the person only', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const visitor = visit(app, alice);
  const save = async (language: string) => {
    const page = await visitor.open('/settings');
    t.equal(page.document.querySelector('#profile-language option[selected]')?.text, 'English');
    return visitor.submit(page, 'Save', { language });
  };
  t.match(await save('xx'), { status: 422 });
  t.match(await save('pt-BR'), { status: 200, text: /Idioma/ });
  t.equal((await visitor.open('/')).heading, 'Início');
  t.equal((await visit(app, bob).open('/')).heading, 'Home');
});
