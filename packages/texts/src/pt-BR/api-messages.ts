import type { ApiMessage } from '../api-message.ts';

export const apiMessages: { exact: Record<ApiMessage, string> } = {
  exact: {
    'is required': 'não pode ficar em branco',
    'is not a known field': 'não é um campo conhecido',
    'is not valid': 'não é válido',
    'has the wrong form': 'não está no formato certo',
    'must not be empty': 'não pode ficar em branco',
    'must not be blank': 'não pode ficar em branco',
    'must not contain spaces': 'não pode ter espaços',
    'must be printable ASCII characters without spaces': 'só pode ter caracteres ASCII, sem espaços',
    'must consist of the letters A to Z, digits, - and _': 'só pode ter letras de A a Z, números, - e _',
    'must be at least {} characters': 'deve ter pelo menos {} caracteres',
    'must be at least {} character': 'deve ter pelo menos {} caractere',
    'must be at most {} characters': 'deve ter no máximo {} caracteres',
    'must be at most {} character': 'deve ter no máximo {} caractere',
    'must have at least {} items': 'deve ter pelo menos {} itens',
    'must have at least {} item': 'deve ter pelo menos {} item',
    'must have at most {} items': 'deve ter no máximo {} itens',
    'must have at most {} item': 'deve ter no máximo {} item',
    'must have at most {} characters': 'deve ter no máximo {} caracteres',
    'must be at least {}': 'deve ser no mínimo {}',
    'must be at most {}': 'deve ser no máximo {}',
    'must be one of {}': 'deve ser um destes: {}',
    'must be a string': 'deve ser um texto',
    'must be a number': 'deve ser um número',
    'must be a number or null': 'deve ser um número',
    'must be an integer': 'deve ser um número inteiro',
    'must be an integer or null': 'deve ser um número inteiro',
    'must contain an upper-case letter': 'deve ter uma letra maiúscula',
    'must contain a lower-case letter': 'deve ter uma letra minúscula',
    'must contain a digit': 'deve ter um número',
    'must be an e-mail address': 'deve ser um e-mail válido',
    'must be an http or https URL without user name and password':
      'deve ser uma URL http ou https, sem nome de usuário e senha',
    'must be an IANA time zone name, such as {}': 'deve ser um fuso horário da IANA, como {}',
    'must be an ISO 8601 date-time with Z or an offset, of the years 1970 to 9999':
      'deve ser data e hora válidas, entre os anos 1970 e 9999',
    'must be a day (2026-11-20) or an ISO 8601 date-time with Z or an offset': 'deve ser um dia, como 2026-11-20',
    'must be a UUID': 'deve ser um UUID',
    'must not contain the NUL character': 'não pode ter o caractere NUL',
    'must not contain half a surrogate pair': 'tem um caractere inválido',

    'must be in the future': 'deve estar no futuro',
    'must not be before the first day': 'não pode ser antes do primeiro dia',
    'must not be in the future': 'não pode estar no futuro',
    'has passed: give a new one in the future': 'deve estar no futuro',
    'is reached: give a larger number, or null': 'já foi atingido: informe um número maior',
    'must be after the next run, or null': 'deve ser depois da próxima execução',
    'must be before the last run, or null': 'deve ser antes da última execução',
    'must be after `from`': 'deve ser depois do início',
    'leaves more than {} planned runs: give a shorter period':
      'inclui mais de {} execuções planejadas: informe um período menor',
    'must be a day': 'deve ser um dia',
    'must be a day, such as 2026-11-20': 'deve ser um dia, como 2026-11-20',
    'must be 1 with {}': 'deve ser 1 neste agendamento',
    'only an active task can be paused': 'só dá para pausar uma tarefa ativa',
    'A pattern has at most {} characters.': 'O padrão deve ter no máximo {} caracteres.',
    'A pattern has exactly five fields: {}.':
      'O padrão tem exatamente cinco campos: minuto, hora, dia do mês, mês e dia da semana.',
    'The {} field ({}) is not valid.': 'O campo {} ({}) não é válido.',
    'The time zone is not an IANA time zone name.': 'O fuso horário não é da IANA.',
    'This pattern never fires.': 'Nenhuma data corresponde a este padrão.',
    'has passed since the task was proposed: send a new one in `changes`':
      'passou desde que a tarefa foi proposta: escolha outra data',

    'must be an http or https URL': 'deve ser uma URL http ou https',
    'must be an https URL': 'deve ser uma URL https',
    'must not contain a user name or password': 'não pode ter nome de usuário nem senha',
    'must not be a URL of this service': 'não pode ser uma URL deste serviço',
    'must name a host': 'deve indicar um servidor',
    'must use port {}': 'deve usar a porta {}',
    'must be a public address': 'deve ser um endereço público',
    'must be a URL that begins with {}': 'deve ser uma URL que começa com {}',
    'must be a URL with a host': 'deve ser uma URL com um servidor',
    'is not one of your channels': 'não é um dos seus canais',
    'is not one of your files': 'não é um dos seus arquivos',
    'is not a setting of {}': 'não é uma configuração de {}',
    'is needed again, because the server is another one': 'deve ser informado de novo, porque o servidor mudou',
    'must differ from `from`': 'deve ser diferente do início',
    'must be the server, without /notify and what follows': 'deve ser o servidor, sem /notify e o que vem depois',
    'must be the server, without the topic': 'deve ser o servidor, sem o tópico',
    'is required, or `key`': 'não pode ficar em branco sem uma chave',
    'cannot be given together with `urls`': 'não pode ser usado junto com URLs',
    'must be a URL of Apprise, such as ntfy://topic, without spaces':
      'deve ser uma URL do Apprise, como ntfy://topic, sem espaços',
    'is required for e-mail': 'não pode ficar em branco',
    'must be a token of @BotFather, such as 123456:AbC…': 'deve ser um token do @BotFather, como 123456:AbC…',
    'must be the id of a chat, or the @name of a channel': 'deve ser o id de uma conversa ou o @nome de um canal',
    'must be base64, padded, after whsec_': 'deve ser base64, completo, depois de whsec_',

    'must have at most {} KiB as JSON': 'deve ter no máximo {} KiB em JSON',
    'must be "object": results are objects': 'deve ser "object": as respostas são objetos',
    'must be a path such as price, releases[].date or releases[version].date':
      'deve ser um caminho, como price, releases[].date ou releases[version].date',
    'must be false for a task without tools': 'só vale para uma tarefa com ferramentas',
    'must be at least {}, so that each of the tools may be used':
      'deve ser no mínimo {}, para que cada ferramenta possa ser usada',
    'must be empty for the model {}: its provider runs no web tools. Choose a model of one that does (Anthropic or OpenRouter), or leave them out':
      'não pode ser usado com o modelo {}: o provedor dele não tem ferramentas da web. Escolha um modelo da Anthropic ou do OpenRouter',
    'must not contain {} for the model {}: its provider runs {} only':
      'não pode ter {} com o modelo {}: o provedor dele só tem {}',
    'must have at most {} MiB together': 'devem ter no máximo {} MiB juntos',
    'must have at most {} bytes': 'deve ter no máximo {} bytes',
    'must have a name': 'deve ter um nome',
    'must have a name of at most {} characters': 'deve ter um nome de no máximo {} caracteres',
    'must not have control or direction characters in its name':
      'não pode ter caracteres de controle ou de direção no nome',
    'must be a file of one of these kinds: {}': 'deve ser um arquivo de um destes tipos: {}',
    'does not contain a {} file': 'não contém um arquivo {}',

    'is required without id': 'não pode ficar em branco',
    'is required, because baseUrl changes': 'deve ser informada de novo, porque a URL mudou',
    'must be left out, because id names a provider': 'não pode ser informado',
    'must be visible ASCII characters, without spaces': 'só pode ter caracteres ASCII, sem espaços',
    'must end before {}': 'deve terminar antes de {}',
    'is wrong': 'não confere',
    'is not accepted: start again': 'não foi aceito: comece de novo',
    'needs a host name: BASE_URL has the address {}': 'precisa de um nome de servidor: BASE_URL tem o endereço {}',
    'cannot be sent with a code': 'não pode ser enviado com um código',
    'cannot be sent with {}': 'não pode ser enviado com {}',
    'is needed: you signed in more than 15 minutes ago': 'é necessária: você entrou há mais de 15 minutos',
    'is not the address of this account': 'não é o e-mail desta conta',
    'must differ from the current one': 'deve ser diferente da atual',
    'is required while trials have no duration': 'não pode ficar em branco enquanto o teste não tiver duração',

    'must be a host with an optional port, such as {}': 'deve ser um servidor, com uma porta se preciso, como {}',
    'must be the name of a header that a request may set':
      'deve ser o nome de um cabeçalho que uma requisição pode ter',
    'must be printable ASCII characters on one line, without spaces at its ends':
      'só pode ter caracteres ASCII em uma linha, sem espaços nas pontas',
    'There is a secret of this name.': 'Já existe um segredo com este nome.',
    'The quota of {} secrets is used up.': 'Você já tem {} segredos, o máximo. Exclua um primeiro.',
    'has the name of another one': 'tem o nome de outra',
    'cannot search: the operator has set no search engine': 'não pode pesquisar: o operador não definiu um buscador',
    'select must be a JSON Pointer, such as {}': 'a seleção deve ser um JSON Pointer, como {}',
    'select must be a CSS selector, such as {}, or a JSON Pointer, such as {}':
      'a seleção deve ser um seletor CSS, como {}, ou um JSON Pointer, como {}',
    'names the secret {}, which does not exist': 'usa o segredo {}, que não existe',
    'names the secret {}, which is for {}': 'usa o segredo {}, que é para {}',
    'The source could not be reached: its host or certificate is wrong, it is down, or it is not public.':
      'Não foi possível acessar a fonte: o servidor ou o certificado dela está errado, ela está fora do ar ou não é pública.',
    'The source could not be reached: its host or certificate is wrong, it is down, or it is not public. A secret needs https, or an address that the operator allows.':
      'Não foi possível acessar a fonte: o servidor ou o certificado dela está errado, ela está fora do ar ou não é pública. Um segredo precisa de https ou de um endereço que o operador permite.',
    'The source did not answer within {} s.': 'A fonte não respondeu em {} s.',
    'The source redirects more than {} times.': 'A fonte redireciona mais de {} vezes.',
    'The source answered {}.': 'A fonte respondeu {}.',
    'The source is larger than 2 MiB.': 'A fonte tem mais de 2 MiB.',
    'The answer of the source is not complete.': 'A resposta da fonte não está completa.',
    'The compression of the source is unknown or broken.': 'A compressão da fonte é desconhecida ou está danificada.',
    'The source is not a text.': 'A fonte não é um texto.',
    'The source is not JSON, which its JSON Pointer needs.': 'A fonte não é JSON, e o JSON Pointer dela precisa disso.',
    'The source is not HTML, which its CSS selector needs.': 'A fonte não é HTML, e o seletor CSS dela precisa disso.',
    'The source has nothing at its selection.': 'A fonte não tem nada na seleção.',
    'The source is malformed.': 'A fonte está malformada.',
    'The source takes too long to read.': 'A fonte demora demais para ser lida.',
    'The search engine got no answer from the engines that it asks.':
      'O buscador não recebeu resposta dos serviços que consulta.',
    'The search engine answered {}.': 'O buscador respondeu {}.',
    'The search engine did not answer.': 'O buscador não respondeu.',
    'The secret of the source was deleted, or is for another host.':
      'O segredo da fonte foi excluído ou é para outro servidor.',

    'The e-mail address or the password is wrong.': 'E-mail ou senha incorretos.',
    'This e-mail address is already registered.': 'Este e-mail já está cadastrado.',
    'This address is BOOTSTRAP_ADMIN_EMAIL in the settings of the installation. Change it there first.':
      'Este e-mail é o BOOTSTRAP_ADMIN_EMAIL da instalação. Mude-o lá primeiro.',
    'This account has no password: sign out, and sign in again.': 'Esta conta não tem senha: saia e entre de novo.',
    'This account has no password yet. Ask for a link by mail to choose one.':
      'Esta conta ainda não tem senha. Peça um link por e-mail para criar uma.',
    'Confirm with your password first.': 'Confirme sua senha primeiro.',
    'The trial has ended.': 'O período de teste terminou.',
    'The quota of {} active tasks is used up: pause or delete one first.':
      'Você já tem {} tarefas ativas, o máximo. Pause ou exclua uma primeiro.',
    'The quota of {} executions is used up until {}.':
      'Todas as {} execuções já foram usadas. As execuções voltam em {}.',
    'The quota of {} tokens is used up until {}.': 'Todos os {} tokens já foram usados. As execuções voltam em {}.',
    'The quota of {} storage is used up.': 'A cota de armazenamento de {} está esgotada.',
    'The task has spent {} of its monthlyBudgetUsd of {}, and the rest does not cover another run. The next month begins at {}.':
      'A tarefa gastou {} do orçamento mensal de {}. O resto não cobre outra execução. Ela volta em {}.',
    'Calls in progress have reserved the remaining tokens. Try again in a few seconds.':
      'Chamadas em andamento reservaram os tokens restantes. Tente de novo em alguns segundos.',
    'The service is not available at this moment.': 'O serviço não está disponível no momento.',
    'The service is under maintenance. Please try again later.': 'O serviço está em manutenção. Tente mais tarde.',
    'The service is overloaded. Please try again shortly.': 'O serviço está sobrecarregado. Tente de novo em breve.',
    'Too many sign-ins at the moment. Try again in a few seconds.':
      'Há muitas pessoas entrando agora. Tente de novo em alguns segundos.',
    'Too many deliveries are in progress. Try again in a few seconds.':
      'Há muitas entregas em andamento. Tente de novo em alguns segundos.',
    'The upload took too long. Try again.': 'O envio demorou demais. Tente de novo.',
    'This is no longer the next run.': 'Esta não é mais a próxima execução.',
    'The task has no next run to skip.': 'A tarefa não tem próxima execução para pular.',
    'This is the last active admin.': 'Este é o último administrador ativo.',
    'A coupon with this code already exists.': 'Já existe um cupom com este código.',
    'There can be {} providers.': 'Pode haver no máximo {} provedores.',
    'This is the default provider. Delete the other ones first.':
      'Este é o provedor padrão. Exclua os outros primeiro.',
    'This provider is set by environment variables: change it there, and restart.':
      'Este provedor é definido por variáveis de ambiente: mude-o lá e reinicie.',
    'Another provider has the name "{}".': 'Outro provedor já tem o nome "{}".',
    'One of your webhooks already has this secret; their inbound URLs would be the same.':
      'Um dos seus webhooks já tem este segredo; as URLs de entrada seriam iguais.',
    'The channel is not active. Switch it on first.': 'O canal está desativado. Ative-o primeiro.',
    'The webhook is not active. Activate it first.': 'O webhook está desativado. Ative-o primeiro.',
    'The e-mail address is not confirmed yet: open the link first.':
      'O e-mail ainda não foi confirmado: abra o link primeiro.',
  },
};
