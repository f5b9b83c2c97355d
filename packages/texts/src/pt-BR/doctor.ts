import type { doctor as en } from '../en/doctor.ts';
import { formats } from './formats.ts';

const { count } = formats;

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
    assistants: 'assistentes',
  },
  checking: 'Verificando',
  found: (problems, warnings) =>
    `Resultado: ${count(problems, 'problema', 'problemas')} e ${count(warnings, 'aviso', 'avisos')}.`,
  notChecked: 'Isto não foi verificado.',
  correctFirst: (variables) => `Corrija ${variables} primeiro.`,
  synchroniseClocks: 'Sincronize os dois relógios por NTP.',
  raiseConnections: 'Aumente max_connections ou diminua DATABASE_POOL.',

  deliveriesOfFailed: (deliveries) => `Entregas à espera de webhooks que falharam: ${deliveries}.`,
  deliveriesOfOff: (days, deliveries) =>
    `Entregas que esperam há ${days} dias por webhooks desativados: ${deliveries}.`,
  endDeliveries: 'Inicie um processo da API, que as encerra, ou execute carillon prune.',

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
    'Inicie um processo da API, que a cria, ou execute carillon prune. Se já houver um em execução, o log dele diz qual tabela está em uso.',
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

  settingsValid: {
    production: 'configuração de produção, toda válida',
    development: 'configuração de desenvolvimento, toda válida',
  },
  setAsDescribed: (variables) => `Defina ${variables} como descrito em .env.example.`,
  productionRejects: 'Em produção, isto seria recusado.',
  correctSchedulerSetting: 'Corrija-a: o agendador não inicia com ela.',
  correctSpelling: 'Corrija o nome: .env.example lista todas as configurações.',
  embeddedInProduction:
    'A produção usa o banco de dados embutido, porque DATABASE_URL não está definida: só esta máquina pode usá-lo.',
  useServer:
    'Defina DATABASE_URL como um PostgreSQL 15 ou mais novo, com backup e atualizações como os outros servidores.',

  folderCreated: (path) => `${path} será criada na primeira inicialização`,
  folderUnreadable: (path, code) => `Não foi possível ler ${path} (${code}).`,
  useOwnFolder: 'Defina DATA_DIR como uma pasta sua.',
  notAFolder: (path) => `${path} não é uma pasta.`,
  useFolder: 'Defina DATA_DIR como uma pasta.',
  folderWritable: (path) => `é possível gravar em ${path}`,
  folderNotWritable: (path) => `Este usuário não pode gravar em ${path}.`,
  ownFolder: 'Torne este usuário o dono dela ou defina DATA_DIR como outra pasta.',
  spaceLeft: (size) => `O disco dela tem ${size} livres.`,
  freeSpace: 'Libere espaço ou mova DATA_DIR.',
  othersHaveAccess: (path) => `Outros usuários desta máquina têm acesso a ${path}.`,
  takeAccess: (path) => `Execute chmod go= ${path}`,

  embeddedCreated: 'o PostgreSQL embutido será criado na primeira inicialização, porque DATABASE_URL não está definida',
  seePoolers: 'Veja "Poolers" em docs/operating/postgresql.md.',
  databaseErrors: {
    unknown: {
      message: 'Não foi possível usar o banco de dados',
      fix: 'Verifique DATABASE_URL e o log do servidor.',
    },
    noTls: {
      message: 'O servidor não oferece TLS',
      fix: 'Ative o TLS no servidor (ssl = on) ou, se a rede for confiável, remova sslmode de DATABASE_URL.',
    },
    tlsRequired: {
      message: 'O servidor exige TLS',
      fix: 'Adicione sslmode=require a DATABASE_URL, ou sslmode=verify-full com sslrootcert.',
    },
    certificateNotTrusted: {
      message: 'O certificado do servidor não é confiável',
      fix: 'Defina sslrootcert em DATABASE_URL como o arquivo do certificado da CA deste servidor.',
    },
    certificateOfOther: {
      message: 'O certificado do servidor é de outro host',
      fix: 'Use em DATABASE_URL um host que esteja no certificado, ou sslmode=verify-ca.',
    },
    certificateExpired: {
      message: 'O certificado do servidor expirou',
      fix: 'Renove o certificado no servidor.',
    },
    unknownParameter: {
      message: 'O servidor não conhece um parâmetro de DATABASE_URL',
      fix: 'Remova este parâmetro de DATABASE_URL.',
    },
    refused: {
      message: 'Nada responde no endereço do banco de dados',
      fix: 'Inicie o PostgreSQL ou corrija o host e a porta em DATABASE_URL.',
    },
    unknownHost: {
      message: 'O host do banco de dados é desconhecido',
      fix: 'Corrija o host em DATABASE_URL.',
    },
    noNameResolution: {
      message: 'O host do banco de dados é desconhecido',
      fix: 'Corrija o host em DATABASE_URL ou a resolução de nomes.',
    },
    wrongPassword: {
      message: 'O banco de dados recusa a senha',
      fix: 'Corrija o usuário e a senha em DATABASE_URL.',
    },
    userRejected: {
      message: 'O banco de dados recusa este usuário',
      fix: 'Corrija o usuário em DATABASE_URL ou libere-o em pg_hba.conf.',
    },
    noDatabase: {
      message: 'O banco de dados não existe',
      fix: 'Crie-o ou corrija o nome dele em DATABASE_URL.',
    },
    noPrivilege: {
      message: 'Falta um privilégio a este usuário',
      fix: 'Conceda todos os privilégios nas tabelas dos schemas public e drizzle ou torne o usuário dono delas.',
    },
    starting: {
      message: 'O banco de dados está iniciando ou se recuperando',
      fix: 'Espere até que esteja pronto: o log dele mostra o andamento.',
    },
    noConnection: {
      message: 'O servidor não tem mais conexões',
      fix: 'Aumente max_connections ou diminua DATABASE_POOL.',
    },
    noAnswer: {
      message: 'O banco de dados não responde a tempo',
      fix: 'Verifique a rede até o servidor e a carga dele.',
    },
  },

  postgresTooOld: (version) => `O PostgreSQL é ${version}, mas deve ser 15 ou mais novo.`,
  upgradePostgres: 'Atualize-o.',
  postgresAnswers: (version) => `o PostgreSQL ${version} responde`,
  wrongEncoding: (encoding) => `A codificação dele é ${encoding}.`,
  useUtf8: 'Crie o banco de dados de novo com a codificação UTF8.',
  isStandby: 'É um standby, que só permite leitura.',
  usePrimary: 'Defina DATABASE_URL como o servidor primário.',
  readOnly: 'Só permite leitura: default_transaction_read_only está ativado.',
  endReadOnly: 'Desative-o para o banco de dados e para o usuário.',
  databaseClock: (seconds, isAhead) =>
    `O relógio dele está ${seconds} s ${isAhead ? 'adiantado' : 'atrasado'} em relação ao desta máquina.`,
  tablesWithheld: (tables, more) =>
    `Este usuário não pode ler e gravar ${tables.join(', ')}${more > 0 ? ` e mais ${count(more, 'tabela', 'tabelas')}` : ''}.`,
  grantTables: 'Conceda todos os privilégios nas tabelas ou torne o usuário dono delas.',
  schemaFixed: 'Este usuário não pode alterar o schema, então nenhuma migração pode ser aplicada.',
  ownDatabase: 'Torne o usuário dono do banco de dados e das tabelas.',
  noTables: 'Ainda não tem tabelas.',
  createdAtStart: 'Elas são criadas na primeira inicialização.',
  schemaTooOld: 'O schema é anterior a 0000_initial.',
  runUpgradeScript: 'Execute uma vez o script de docs/operating/upgrade.md.',
  schemaNewest: (migration) => `o schema é o mais novo, ${migration}`,
  schemaTooNew: 'O schema é de uma versão mais nova do Carillon.',
  useNewerVersion: 'Execute essa versão ou restaure um backup desta versão.',
  migrationsMissing: (migrations) => `Migrações ainda não aplicadas: ${migrations}.`,
  appliedAtStart: 'São aplicadas na próxima inicialização.',
  connections: (processes, pool, needed) =>
    `${count(processes, 'processo', 'processos')} da API com DATABASE_POOL=${pool} ${processes === 1 ? 'pode' : 'podem'} usar ${count(needed, 'conexão', 'conexões')}`,
  ofPooler: (need) => `${need} do pooler, cujo limite é max_client_conn`,
  moreThanAllowed: (need, allowed) => `${need}, mas o servidor permite ${allowed}.`,
  othersUseConnections: (need, others, allowed) =>
    `${need}, e outros programas usam ${others} das ${allowed} que o servidor permite.`,
  ofAllowed: (need, allowed) => `${need} das ${allowed} que o servidor permite`,

  reachedDirectly: 'o acesso é sem pooler',
  reachedByPooler: (mode, keepsStatements) =>
    `o acesso é por um pooler no modo ${mode}, ${keepsStatements ? 'com' : 'sem'} prepared statements`,
  notPrepared: 'Nenhum comando SQL é preparado, embora isso seja possível.',
  prepare: 'Remova DATABASE_PREPARE=false.',
  noDirectUrl:
    'DATABASE_DIRECT_URL não está definida: migrações e backups ocupam uma conexão do pooler, e os avisos de outros programas não chegam.',
  setDirectUrl: 'Defina-a como o endereço do próprio PostgreSQL: veja "Poolers" em docs/operating/postgresql.md.',
  noStatementTimeout:
    'O usuário dele não tem statement_timeout, então comandos abandonados continuam em execução no servidor.',
  setStatementTimeout: 'Defina-o com alter role: veja "Poolers" em docs/operating/postgresql.md.',
  directToOther: 'DATABASE_DIRECT_URL leva a outro banco de dados.',
  correctDirect: 'Corrija o endereço ou o nome.',
  directToPooler: 'DATABASE_DIRECT_URL leva a um pooler no modo transaction.',
  useServerItself: 'Defina-a como o endereço do próprio PostgreSQL.',
  directSame: 'DATABASE_DIRECT_URL leva ao mesmo banco de dados',

  notItsStandby: (host) => `${host} não é um standby do banco de dados de DATABASE_URL.`,
  correctReadUrl: 'Corrija DATABASE_READ_URL. Nada é lido deste servidor.',
  isPrimary: (host) => `${host} é o servidor primário, que já responde a estas leituras.`,
  useStandbys: 'Defina DATABASE_READ_URL como os standbys.',
  notRead: (host, reason) => `Nada é lido de ${host}, e o servidor primário responde no lugar. ${reason}`,
  standbyFollows: (host, ms) => `${host} é um standby com menos de ${ms} ms de atraso`,
  standbyLags: (host, ms) => `${host} tem mais de ${ms} ms de atraso: o servidor primário responde às leituras.`,
  findDelay:
    'Descubra a causa do atraso, como um disco lento ou consultas longas, ou aumente DATABASE_READ_MAX_LAG_MS.',

  startScheduling: 'Inicie um processo da API e o agendador.',
  noProcess: 'Nenhum processo da API está conectado ao banco de dados.',
  schedulerSilent: (seconds) => `O agendador não chama há ${seconds} s.`,
  startScheduler: 'Inicie o agendador. API_URL e CRON_SECRET dele devem ser os da API.',
  inMaintenance: 'O modo de manutenção está ativado: nada é iniciado.',
  endMaintenance: 'Encerre-o com PATCH /api/admin/settings e {"maintenanceMode": false}.',
  overdue: (tasks, seconds) =>
    `Tarefas previstas não entram na fila. Atrasadas: ${tasks}, a mais antiga há ${seconds} s.`,
  checkLogs: 'Verifique os logs dos processos da API e do agendador.',
  enqueuedLate: (runs, late, seconds) =>
    `Execuções da última hora que entraram na fila com mais de ${seconds} s de atraso: ${late} de ${runs}.`,
  startLateScheduler:
    'Inicie o agendador: sem ele, os processos da API verificam uma vez por minuto. API_URL e CRON_SECRET dele devem ser os da API.',
  executionsWait: (executions) => `Execuções que esperam há mais de 10 minutos: ${executions}.`,
  addProcess: 'Aumente EXECUTION_CONCURRENCY ou inicie mais um processo da API.',
  mailsWait: (mails) => `E-mails que esperam há mais de 10 minutos: ${mails}.`,
  seeMailCheck: 'Veja o resultado da verificação de e-mail.',
  enqueuedInTime: 'as tarefas entram na fila na hora prevista',

  offlineAnswers: 'Quem responde é o modelo embutido "offline", que não sabe nada.',
  setProvider: 'Defina AI_BASE_URL como um provedor ou adicione um na página /admin/providers.',
  modelAnswers: (url, model, ms) => `${url} responde como ${model} em ${ms} ms`,
  keyRejected: (cause) => `A chave é recusada: ${cause}`,
  correct: (variable) => `Corrija ${variable}.`,
  raiseAiTimeout: 'Verifique a rede ou aumente AI_TIMEOUT_MS.',
  addCredit: 'Adicione crédito à conta no provedor.',
  askForLimit: 'Se isto acontecer com frequência, peça ao provedor um limite maior.',
  correctAiAddress: 'Corrija AI_BASE_URL ou libere a conexão.',
  checkStatusPage: 'Verifique a página de status do provedor.',
  modelDoesNotAnswer: (url, model, cause) => `${url} não responde como ${model}, o modelo padrão das tarefas: ${cause}`,
  setDefaultModel: 'Defina defaultModel nas configurações do sistema como um modelo que este provedor tenha.',
  notCompatible: (url, cause) => `${url} não é a URL de um serviço compatível com OpenAI: ${cause}`,
  setAiAddress: 'Defina AI_BASE_URL como a URL sem /chat/completions; em geral ela termina com /v1.',
  saveKeyAgain: (provider) => `Salve a chave de ${provider} de novo na página /admin/providers.`,
  correctOrUnset: (variable) => `Corrija ${variable} ou remova-a.`,
  correctProviderAddress: (provider) => `Corrija o endereço de ${provider} na página /admin/providers.`,
  correctOrAllow: (variable) => `Corrija ${variable}, remova-a ou libere a conexão.`,
  correctProviderOrAllow: (provider) =>
    `Corrija o endereço de ${provider} na página /admin/providers ou libere a conexão.`,
  providerKeyUnreadable: (provider) => `Não foi possível decifrar a chave de ${provider}.`,
  addKeyOrSave: 'Adicione a chave dela a ENCRYPTION_KEY ou salve-a de novo na página /admin/providers.',
  keyInvalid: 'A chave tem caracteres inválidos.',
  acceptsKey: (url) => `${url} responde e aceita a chave`,
  answers: (url) => `${url} responde`,
  rejectsKey: (url, status) => `${url} recusa a chave (${status}).`,
  unavailable: (url, status) => `${url} está indisponível (${status}).`,
  listsNoModels: (url, status) => `${url} não lista modelos (${status}).`,
  notAnthropic: (url, status) => `${url} não é a URL da API Messages da Anthropic (${status}).`,
  providerSilent: (url) => `${url} não responde a tempo.`,

  sharedAddress:
    'TRUST_PROXY é false, embora BASE_URL seja https: todos os clientes têm o endereço do proxy e dividem um só limite de requisições.',
  setTrustProxy: 'Defina TRUST_PROXY como o endereço do proxy reverso.',
  notCarillon: (url, status) => `${url} responde com ${status}, mas não como o Carillon.`,
  pointProxy: 'Aponte o proxy reverso para a API ou corrija BASE_URL.',
  otherVersion: (version, url, own) => `A versão ${version} responde em ${url}; esta é a ${own}.`,
  restartProcesses: 'Reinicie os processos da API.',
  versionAnswers: (url, version) => `${url} responde como versão ${version}`,
  unreachableFromHere: (url, cause) => `Não foi possível acessar ${url} daqui: ${cause}`,
  startProxy: 'Inicie a API e o proxy reverso ou corrija BASE_URL.',
  apiClock: (seconds, isAhead) =>
    `O relógio da API está ${seconds} s ${isAhead ? 'adiantado' : 'atrasado'} em relação ao desta máquina.`,

  assistantsConnect: (url) => `claude.ai, ChatGPT e celulares podem se conectar a ${url}`,
  assistantsNeedPages: 'assistentes se conectam só com chaves de API, porque DASHBOARD é false',
  assistantsHere: (url) =>
    `assistentes nos seus computadores se conectam a ${url}; claude.ai, ChatGPT e celulares precisam de um endereço https que a internet alcance`,
  assistantsNeedHttps: (url) => `claude.ai, ChatGPT e celulares não se conectam a ${url} sem https.`,
  useHttps: 'Coloque na frente um proxy reverso com certificado e defina BASE_URL como o endereço https dele.',
  assistantsNeedIpv4: (host) => `${host} só tem endereços IPv6, que os servidores dos assistentes não alcançam.`,
  addIpv4: 'Dê um endereço IPv4 ao host.',
  assistantsRedirected: (url) => `${url} redireciona, e os assistentes perdem o token no caminho.`,
  setFinalAddress: 'Defina BASE_URL como o endereço a que o redirecionamento leva.',
  assistantsNotServed: (url) => `${url} não tem o documento que os assistentes procuram.`,
  passDocuments: 'Encaminhe /.well-known/oauth-* para a API, como mostra docs/operating/reverse-proxy.md.',
};
