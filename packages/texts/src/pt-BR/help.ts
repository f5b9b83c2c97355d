import type { help as en } from '../en/help.ts';

export const help: typeof en = {
  program: 'Opera e repara uma instalação do Carillon. As configurações vêm do ambiente e do .env.',
  seeHelp: 'Use --help para ver a ajuda.',
  titles: { 'Usage:': 'Uso:', 'Arguments:': 'Argumentos:', 'Options:': 'Opções:', 'Commands:': 'Comandos:' },
  defaultValue: (value) => `(padrão: ${value})`,
  version: 'mostra a versão',
  helpOption: 'mostra a ajuda do comando',
  json: 'mostra o resultado em JSON',

  data: 'a pasta dos dados, em vez de DATA_DIR ou .data',
  dataTakes: 'O valor deve ser uma pasta.',
  processes: {
    start: {
      summary: 'executa tudo em um só processo',
      description: 'Executa a API, o agendador e, sem DATABASE_URL, o PostgreSQL, até um sinal encerrar.',
    },
    api: { summary: 'executa a API', description: 'Executa um processo da API, até um sinal encerrar.' },
    scheduler: {
      summary: 'executa o agendador',
      description: 'Executa o agendador, que chama a API em API_URL quando há o que fazer, até um sinal encerrar.',
    },
    demo: {
      summary: 'mostra os principais usos, passo a passo',
      description:
        'Mostra os principais usos, passo a passo, com o serviço em PORT ou, se não houver um, com um próprio em uma pasta temporária.',
    },
  },

  doctor: {
    summary: 'encontra problemas desta instalação',
    description: `Encontra problemas desta instalação e diz como corrigi-los.

Verifica cada configuração, a força dos segredos, o banco de dados (conexão, versão, privilégios, schema, relógio, número de conexões), se ENCRYPTION_KEY decifra os segredos dele, o agendador, as entregas em espera, o provedor de IA (uma pequena chamada), o servidor de e-mail (login, sem enviar e-mail), o armazenamento de arquivos (um pequeno objeto, excluído em seguida), DATA_DIR e se os clientes chegam a esta versão em BASE_URL. Não muda nada e pode ser executado antes da primeira inicialização ou com o serviço em execução.

Cada resultado é ok, um aviso ou um problema. O código de saída é 1 se houver um problema.`,
    processes: 'quantos processos da API usam o mesmo banco de dados',
    processesRange: 'O valor deve ser um número inteiro de 1 a 9999.',
    json: 'mostra os resultados em JSON',
  },
  createAdmin: {
    summary: 'cria uma conta de administrador ou promove uma existente',
    description:
      'Cria uma conta de administrador. Uma conta existente é promovida: ela mantém a senha e precisa entrar de novo. Sem opções, o comando pede a senha, que precisa de pelo menos 8 caracteres, com uma letra maiúscula, uma minúscula e um dígito. O banco de dados precisa ter as tabelas: inicie o Carillon uma vez antes. A auditoria registra a mudança.',
    email: 'o e-mail com que o administrador entra',
    name: 'o nome da nova conta',
    passwordFile: 'lê de um arquivo a senha da nova conta',
    generate: 'gera e mostra uma senha para a nova conta',
  },
  resetFactors: {
    summary: 'remove os segundos fatores de uma conta',
    description:
      'Exclui os segundos fatores e os códigos de recuperação de uma conta, para quem os perdeu, e encerra as sessões e os acessos não concluídos dela. A senha continua a mesma. Confirme antes que a conta é mesmo da pessoa. A conta recebe um e-mail, e a auditoria registra a mudança.',
    email: 'o e-mail da conta',
  },
  setupLink: {
    summary: 'mostra o link da página que cria o primeiro administrador',
    description:
      'Mostra o endereço da página que cria a primeira conta de administrador. Ele vale por uma hora, e só enquanto não existe nenhuma conta.',
  },
  backup: {
    summary: 'grava o banco de dados e os arquivos do disco em um só arquivo',
    description: `Grava o banco de dados e os arquivos do disco em um só arquivo.

O backup contém o banco de dados inteiro em um mesmo instante, menos os contadores de limites de requisições, e os arquivos de STORAGE_DRIVER=disk. O serviço pode estar em execução. Os arquivos de um bucket (s3) não estão incluídos: faça backup do próprio bucket. Nenhum outro programa é necessário, e o uso de memória não depende da quantidade de dados.

O backup é um arquivo tar comprimido com Zstandard que só o dono pode ler. Os segredos continuam criptografados: guarde em outro lugar a ENCRYPTION_KEY, porque sem ela não é possível decifrá-los, e o JWT_SECRET, porque sem ele todas as sessões terminam.`,
    file: 'o arquivo do backup, como carillon-2026-11-20.tar.zst; ele não pode existir ainda',
  },
  restore: {
    summary: 'restaura um backup em uma instalação vazia',
    description: `Restaura um backup em uma instalação vazia.

O banco de dados precisa estar vazio, sem tabelas: um banco novo ou, com o PostgreSQL embutido, outro DATA_DIR. O Carillon não pode estar em execução nele; um processo que inicia durante a restauração espera. Um backup de uma versão anterior é migrado para o esquema atual.

Ou tudo é restaurado, ou nada: um arquivo danificado ou incompleto é recusado e deixa o banco de dados vazio. O trabalho em andamento durante o backup é retomado como depois de uma queda. Defina a ENCRYPTION_KEY do backup e, para manter as sessões, o JWT_SECRET dele.`,
    file: 'o arquivo do backup',
  },
  upgrade: {
    summary: 'mostra o que uma atualização para esta versão mudaria',
    description:
      'Mostra quais migrações a próxima inicialização desta versão aplica ao banco de dados e quando foi feito o último backup. Não muda nada. O código de saída é 1 se houver migrações e nenhum backup do último dia, ou se o banco de dados for de uma versão mais nova.',
    check: 'não muda nada; a próxima inicialização atualiza',
  },
  keys: {
    summary: 'lista e revoga as chaves de API de um usuário',
    description: 'Comandos para as chaves de API de um usuário.',
    user: 'o e-mail da conta',
  },
  listKeys: {
    summary: 'lista as chaves de API de um usuário',
    description: 'Lista as chaves de API de um usuário, da mais nova à mais antiga, inclusive as que já expiraram.',
    json: 'mostra as chaves em JSON',
  },
  revokeKeys: {
    summary: 'exclui chaves de API de um usuário',
    description:
      'Exclui chaves de API de um usuário. A partir de agora, as requisições com elas recebem 401 em todos os processos.',
    ids: 'ids das chaves, como `keys list` mostra',
    all: 'exclui todas as chaves da conta',
  },
  tasks: {
    summary: 'exportar e importar as tarefas de uma conta como arquivo',
    description:
      'Comandos para as tarefas de uma conta como arquivo YAML, ou JSONL se o nome terminar em .jsonl. Eles chamam um Carillon em execução com uma chave de API que tem os escopos tasks:read e tasks:write. O código de saída é 0 se tudo foi feito ou nada difere, 1 se algo difere, foi recusado ou falhou, e 2 para argumentos inválidos.',
    file: 'o arquivo; - é a entrada ou a saída padrão',
    url: 'endereço do Carillon; padrão: CARILLON_URL',
    key: 'chave de API; padrão: CARILLON_KEY, que nenhuma lista de processos mostra',
    prune: 'excluir também tarefas de importações anteriores que o arquivo não tem',
  },
  taskFiles: {
    export: {
      summary: 'gravar as tarefas em um arquivo',
      description: 'Grava todas as tarefas da conta, das mais antigas às mais novas.',
    },
    diff: {
      summary: 'comparar um arquivo com as tarefas',
      description: 'Verifica um arquivo e diz o que apply faria. Não altera nada.',
    },
    apply: {
      summary: 'deixar as tarefas como no arquivo',
      description: 'Cria e altera tarefas para que fiquem como diz o arquivo: todas, ou nenhuma.',
    },
  },
  prune: {
    summary: 'exclui dados mais antigos que o prazo de retenção',
    description:
      'Exclui de imediato o que o serviço limpa aos poucos: dados mais antigos que o prazo de retenção, sessões e limites expirados e o conteúdo de arquivos excluídos. Encerra as entregas que esperam por webhooks com falha. Depois exclui do armazenamento em disco o que não pertence a nenhum arquivo enviado e tem mais de um dia, que uma restauração ou uma queda pode deixar. O serviço pode estar em execução.',
  },
  usage: {
    summary: 'confere os contadores das cotas',
    description: 'Comandos para o uso das cotas.',
  },
  verifyUsage: {
    summary: 'compara os contadores com o registro de uso, os arquivos e as tarefas',
    description:
      'Soma o registro de uso e os arquivos, conta as tarefas e compara os resultados com os contadores das cotas e das listas. Não muda nada; o serviço pode estar em execução. O código de saída é 0 se conferem, 1 se não conferem e 2 se o comando falha.',
  },
  secrets: {
    summary: 'troca a chave que criptografa os segredos do banco de dados',
    description: 'Comandos para os segredos criptografados no banco de dados.',
  },
  rotateSecrets: {
    summary: 'criptografa todos os segredos com a primeira chave de ENCRYPTION_KEY',
    description:
      'Criptografa todos os segredos do banco de dados com a primeira chave de ENCRYPTION_KEY. O serviço pode estar em execução. O código de saída é 0 se as outras chaves podem sair, 1 se alguma ainda é necessária e 2 se o comando falha.',
  },
};
