import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';

const { app } = await testContext(t);
const alice = await signUp(app, { timezone: 'America/Sao_Paulo' });
const alices = visit(app, alice);
await app.inject({
  method: 'PATCH',
  url: '/api/user/settings',
  headers: alice.headers,
  payload: { language: 'pt-BR' },
});

t.test('The form, its errors and its messages are Portuguese for a person who reads it', async (t) => {
  const page = await alices.open('/tasks/new');
  t.match(page, { status: 200, heading: 'Nova tarefa' });
  t.match(page.text, /Todos os dias às 08:00, horário de America\/Sao_Paulo\./);
  t.match(page.document.querySelector('#runs')?.text, /Horário de Sao Paulo, agora 07:00\./);
  const refused = await alices.submit(page, 'Salvar tarefa', { name: 'Notícias', prompt: 'curto', at: '' });
  t.match(refused, { status: 422, text: /Não foi salva\./ });
  t.match(refused.document.querySelector('#at-error')?.text, 'Informe um horário, como 08:00');
  const empty = await alices.submit(page, 'Salvar tarefa', { name: 'N', prompt: 'curto' });
  t.match(empty.document.querySelector('#name-error')?.text, 'Nome: deve ter pelo menos 3 caracteres');
  const typed = { prompt: 'Quais são as notícias de hoje?', at: '08:00', notify: 'failure', maxRuns: '1000' };
  const saved = await alices.submit(refused, 'Salvar tarefa', typed);
  t.match(saved, { heading: 'Notícias', text: /A tarefa foi salva\. Próxima execução hoje às 08:00, em 1 hora\./ });
  const edit = await alices.open(`${saved.url}/edit`);
  t.match(edit.text, /Notificações: só quando uma execução falha/);
  t.match(edit.text, /Máximo de execuções: 1\.000/);
});

t.test('The agent speaks Portuguese', async (t) => {
  const page = await alices.open('/agent');
  t.match(page, { heading: 'Agente', text: /A resposta aparece aqui\./ });
  const example = page.document.querySelector('.examples button')?.text ?? '';
  const drafted = await alices.submit(page, example);
  t.match(drafted.document.querySelector('#ask textarea')?.text, 'Escreva um prompt');
});
