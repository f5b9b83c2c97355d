import type { doctor as en } from '../en/doctor.ts';

export const doctor: typeof en = {
  checks: {
    configuration: 'configuração',
    'data folder': 'pasta de dados',
    database: 'banco de dados',
    'old transactions': 'transações antigas',
    'read replicas': 'réplicas de leitura',
    partitions: 'partições',
    secrets: 'segredos',
    scheduler: 'agendador',
    webhooks: 'webhooks',
    'AI provider': 'provedor de IA',
    mail: 'e-mail',
    storage: 'armazenamento',
    'reverse proxy': 'proxy reverso',
  },

  deliveriesOfFailed: (deliveries) => `Entregas à espera de webhooks que falharam: ${deliveries}.`,
  deliveriesOfOff: (days, deliveries) =>
    `Entregas que esperam há ${days} dias por webhooks desativados: ${deliveries}.`,
  endDeliveries: 'Inicie um processo da API, que as encerra, ou execute pnpm carillon prune.',

  addEncryptionKey: 'Adicione a chave dele a ENCRYPTION_KEY, depois da primeira.',
  secretsDecrypted: 'ENCRYPTION_KEY decifra os segredos do banco de dados',

  mailFolder: (folder) => `os e-mails são gravados em ${folder} porque SMTP_URL não está definida`,
  mailAccepted: (host) => `${host} aceita e-mails`,
  mailLoginRejected: (host, cause) => `${host} recusa o login: ${cause}`,
  correctMailLogin: 'Corrija o usuário e a senha em SMTP_URL.',
  mailHostUnknown: (host, cause) => `O servidor de e-mail ${host} é desconhecido: ${cause}`,
  correctMailHost: 'Corrija o host em SMTP_URL.',
  mailNotSecure: (host, cause) => `Não há conexão segura com ${host}: ${cause}`,
  correctMailScheme:
    'smtps:// usa TLS desde o início, em geral na porta 465; smtp:// passa a usá-lo depois, em geral na porta 587. O certificado deve ser do mesmo host.',
  noAnswerInTime: (server, cause) => `${server} não responde a tempo: ${cause}`,
  checkMailPort: 'Verifique a porta em SMTP_URL e os firewalls.',
  unreachable: (server, cause) => `Não foi possível acessar ${server}: ${cause}`,
  correctMailAddress: 'Corrija o host e a porta em SMTP_URL ou libere a conexão.',

  modelGone: (model, provider) => `O modelo ${model} saiu da lista do provedor ${provider}.`,
  modelEnds: (model, provider, day) => `O modelo ${model} do provedor ${provider} será encerrado em ${day}.`,
  chooseModel: 'Escolha outro modelo nas tarefas que o usam e nas configurações do sistema.',

  noOldTransaction: 'nenhuma transação antiga retém linhas mortas',
  deadRows: (age, seconds, holder) =>
    `Linhas mortas das últimas ${age} transações${seconds > 0 ? ` (${seconds} s)` : ''} são mantidas por causa de ${holder}, e as filas ficam lentas.`,
  snapshotHolders: {
    session: (program) => `uma transação de ${program}`,
    prepared: (name) => `uma transação preparada, ${name}`,
    slot: (name) => `um slot de replicação, ${name}`,
  },
  endSnapshot: {
    session: (pid) => `Encerre-a: select pg_terminate_backend(${pid}).`,
    prepared: () => 'Encerre-a com commit prepared ou rollback prepared.',
    slot: () => 'Inicie o leitor dele ou remova-o com pg_drop_replication_slot.',
  },

  partitionsExist: 'as partições deste mês e do próximo existem',
  noPartition: (table) => `${table} não tem partição para novas linhas, que são gravadas em ${table}_later.`,
  makePartition:
    'Inicie um processo da API, que a cria, ou execute pnpm carillon prune. Se já houver um em execução, o log dele diz qual tabela está em uso.',
  idsUsed: (percent) => `${percent} % dos ids de execuções já foram usados, e nenhum é usado duas vezes.`,
  planInstallation: 'Planeje mais uma instalação: veja "Cells of users" em docs/operating/scaling.md.',

  filesInDatabase: 'os arquivos são gravados no banco de dados',
  bucket: (name) => `o bucket ${name}`,
  storageWorks: (location) => `é possível gravar, ler e excluir objetos: ${location}`,
  storageFailed: {
    use: (location, cause) => `Não foi possível usar ${location}: ${cause}`,
    write: (location, cause) => `Não foi possível gravar um objeto. Local: ${location}. ${cause}`,
    read: (location, cause) => `Não foi possível ler um objeto. Local: ${location}. ${cause}`,
    delete: (location, cause) => `Não foi possível excluir um objeto. Local: ${location}. ${cause}`,
  },
  contentDiffers: 'o conteúdo é diferente',
  objectMissing: 'o objeto não existe',
  correctFolder: 'Defina DATA_DIR como uma pasta em que este usuário possa gravar, em um disco com espaço livre.',
  correctBucket:
    'Corrija S3_ENDPOINT, S3_REGION, S3_BUCKET e as chaves, que precisam de s3:PutObject, s3:GetObject e s3:DeleteObject.',
};
