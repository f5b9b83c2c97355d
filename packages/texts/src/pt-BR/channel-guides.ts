import type { channelGuides as en } from '../en/channel-guides.ts';
import { parts } from '../parts.ts';

export const channelGuides: typeof en = {
  kinds: {
    slack: {
      summary: 'Uma mensagem em um canal do seu workspace',
      place: 'No Slack',
      steps: ({ link, strong }) => [
        parts`Abra ${link('api.slack.com/apps')} e crie um app do zero. Você pode usar um app existente.`,
        parts`Abra ${strong('Incoming Webhooks')} e ative.`,
        parts`Escolha ${strong('Add New Webhook to Workspace')} e depois o canal das mensagens.`,
        parts`Copie o ${strong('Webhook URL')}.`,
      ],
      example: '#loja',
    },
    mattermost: {
      summary: 'Uma mensagem em um canal do seu servidor',
      place: 'No Mattermost',
      steps: ({ strong }) => [
        parts`Abra ${strong('Integrações')} no menu do produto e depois ${strong('Webhooks de entrada')}. Se não aparecer, peça ao administrador para permitir.`,
        parts`Escolha ${strong('Adicionar webhook de entrada')}, um título e o canal das mensagens.`,
        parts`Salve e copie a ${strong('URL')}.`,
      ],
      example: '~geral',
    },
    teams: {
      summary: 'Um cartão em um canal ou chat do Teams',
      place: 'No Teams',
      steps: ({ strong }) => [
        parts`Abra o menu do canal ou do chat e escolha ${strong('Fluxos de trabalho')}.`,
        parts`Escolha o modelo que publica quando uma ${strong('solicitação de webhook é recebida')}.`,
        parts`Escolha a equipe e o canal das mensagens e crie o fluxo.`,
        parts`Copie a ${strong('URL')}.`,
      ],
      example: 'Equipe de operações',
    },
    discord: {
      summary: 'Uma mensagem em um canal de texto do seu servidor',
      place: 'No Discord',
      steps: ({ strong }) => [
        parts`Abra as configurações do canal de texto e depois ${strong('Integrações')} e ${strong('Webhooks')}. É preciso ter permissão para gerenciar webhooks.`,
        parts`Escolha ${strong('Novo webhook')} e digite um nome.`,
        parts`Escolha ${strong('Copiar URL do webhook')}.`,
      ],
      example: '#status',
    },
    telegram: {
      summary: 'Uma mensagem do seu bot, para você ou um grupo',
      place: 'No Telegram',
      steps: ({ link, code }) => [
        parts`Envie ${code('/newbot')} para ${link('@BotFather')} e siga as perguntas. No fim você recebe o token do bot.`,
        parts`Envie qualquer mensagem ao bot ou adicione-o ao grupo ou canal. Um bot não pode escrever primeiro.`,
        parts`Abra ${code('https://api.telegram.org/bot<TOKEN>/getUpdates')}. O ID do chat é o ${code('id')} em ${code('chat')}. Para um canal público, use o ${code('@nome')}.`,
      ],
      example: 'Meu celular',
    },
    ntfy: {
      summary: 'Uma notificação no seu celular ou computador',
      place: 'No app ntfy',
      steps: ({ link }) => [
        parts`Instale o ${link('ntfy')} no celular ou abra-o no navegador.`,
        parts`Assine um tópico. Em um servidor público, quem souber o nome pode ler: escolha um difícil de adivinhar.`,
        parts`Se o servidor exigir login, crie um token de acesso na sua conta de lá.`,
      ],
      example: 'Meu celular',
    },
    apprise: {
      summary: 'Qualquer serviço que seu servidor Apprise suporta',
      place: 'No seu servidor Apprise',
      steps: ({ link, strong }) => [
        parts`Execute a ${link('Apprise API')} onde o Carillon possa acessá-la.`,
        parts`Salve uma configuração lá e copie a ${strong('chave')},`,
        parts`ou digite abaixo as URLs de notificação dos serviços e não salve nada lá.`,
      ],
      example: 'Tudo em casa',
    },
    email: {
      summary: 'Um e-mail por resposta, ou um resumo por hora ou por dia',
      place: 'Primeiro um link',
      steps: () => [
        parts`Digite um endereço abaixo. Pode ser de uma lista ou de outra pessoa.`,
        parts`Enviamos um link de confirmação para ele. Nada mais é enviado até que o link seja aberto.`,
        parts`Cada e-mail tem um link para cancelar a inscrição.`,
      ],
      example: 'Equipe, uma vez por dia',
    },
  },
  fields: {
    webhookUrl: {
      label: 'URL do webhook',
      hint: (code, prefix) =>
        parts`Começa com ${code(prefix)}. É um segredo: fica criptografada e não é mostrada de novo.`,
    },
    botToken: {
      label: 'Token do bot',
      hint: (code) =>
        parts`Por exemplo ${code('123456789:AAE…')}. É um segredo: fica criptografado e não é mostrado de novo.`,
    },
    chatId: {
      label: 'ID do chat',
      hint: (code) => parts`Um número, que começa com ${code('-')} para um grupo, ou o ${code('@nome')} de um canal.`,
    },
    ntfyServer: { label: 'Servidor', hint: (code) => parts`${code('https://ntfy.sh')} ou o seu servidor.` },
    topic: { label: 'Tópico', hint: (code) => parts`Letras, números, ${code('-')} e ${code('_')}.` },
    accessToken: {
      label: 'Token de acesso',
      hint: () => parts`Só se o servidor exigir login. Fica criptografado e não é mostrado de novo.`,
    },
    appriseServer: {
      label: 'Servidor',
      hint: (code) => parts`Por exemplo ${code('https://apprise.example.com')}, sem ${code('/notify')}.`,
    },
    key: {
      label: 'Chave da configuração',
      hint: (code) => parts`Letras, números, ${code('-')} e ${code('_')}. Fica criptografada e não é mostrada de novo.`,
    },
    urls: {
      label: 'Ou URLs de notificação',
      hint: (code) =>
        parts`Uma por linha, até 10, por exemplo ${code('gotify://host/token')}. Ficam criptografadas e não são mostradas de novo.`,
    },
    address: { label: 'E-mail', hint: () => parts`Recebe o link de confirmação na hora.` },
  },
};
