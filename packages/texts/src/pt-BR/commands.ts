import type { commands as en } from '../en/commands.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const commands: typeof en = {
  stopped: 'Interrompido.',
  noTables: 'O banco de dados ainda não tem tabelas: inicie o Carillon primeiro.',
  unreadable: (path, code) => `Não foi possível ler ${path} (${code}).`,
  portTaken: (port) => `A porta ${port} está em uso: encerre o outro programa ou defina PORT.`,
  portClosed: (port) => `A porta ${port} não está disponível para este usuário: defina PORT como 1024 ou mais.`,
  hostUnusable: (host, code) => `HOST é ${host}, que esta máquina não pode usar (${code}).`,
  databaseUnusable: (server, reason) =>
    `Não foi possível usar o banco de dados em ${server} (${reason}): corrija DATABASE_URL ou remova-a para usar o banco embutido.`,
  databasesUnusable: (server, direct, reason) =>
    `Não foi possível usar o banco de dados em ${server} ou em ${direct} (${reason}): corrija DATABASE_URL ou DATABASE_DIRECT_URL.`,
  folderUnusable: (error) => `${error}: DATA_DIR deve ser uma pasta em que este usuário possa gravar.`,

  admin: {
    created: (email) => `${email} agora tem uma conta de administrador.`,
    promoted: (email) => `${email} agora é administrador; a senha não mudou.`,
    unchanged: (email) => `${email} já era administrador.`,
  },
  generatedPassword: (password) => `A senha, que não será mostrada de novo: ${password}`,
  deactivated: 'A conta está desativada: outro administrador pode ativá-la.',
  emailProblem: (problem) => `O e-mail ${problem}.`,
  passwordProblem: (problem) => `A senha ${problem}.`,
  accountDeleted: 'A conta foi excluída durante o pedido. Tente de novo.',
  onePasswordOption: 'Use --password-file ou --generate, não os dois.',
  noTerminal: 'Sem um terminal para pedir a senha, use --password-file ou --generate.',
  password: 'Senha',
  repeatPassword: 'Repita a senha',
  noPassword: 'Nenhuma senha foi informada: nada mudou.',
  passwordsDiffer: 'As senhas são diferentes: nada mudou.',
  noPages: 'DASHBOARD=false desativa as páginas: use create-admin.',
  hasAccount: 'Já existe uma conta: create-admin cria ou promove um administrador.',

  upgradesTo: (version) => `Esta é a versão ${version}.`,
  createsTables: 'O banco de dados ainda não tem tabelas: a próxima inicialização as cria.',
  keepsSchema: 'O banco de dados tem o schema desta versão: a próxima inicialização não muda nada.',
  migrates: (from, migrations) =>
    `O banco de dados tem o schema ${from}. A próxima inicialização aplica ${formats.list(migrations)}.`,
  newerSchema: (version) => `O banco de dados é de uma versão do Carillon mais nova que ${version}: use essa versão.`,
  lastBackup: (at) => `Último backup: ${at}.`,
  noBackup: 'Último backup: nenhum.',
  backUpFirst: 'Faça um backup antes: carillon backup <arquivo>.',

  backingUp: 'Fazendo backup',
  exists: (file) => `${file} já existe: escolha outro arquivo.`,
  backedUp: (file, rows, tables, files, size) =>
    `${file}: ${count(rows, 'linha', 'linhas')} de ${count(tables, 'tabela', 'tabelas')} e ${count(files, 'arquivo', 'arquivos')}, ${size}.`,
  missingFiles: (files) => `Arquivos não incluídos porque não existem mais: ${number(files)}.`,
  bucketNotIncluded: 'Os arquivos do bucket não estão incluídos: faça backup do bucket também.',
  storeKey: 'Os segredos estão criptografados: guarde em outro lugar a ENCRYPTION_KEY, que não está incluída.',
  notRecorded:
    'O backup está completo, mas o horário não pôde ser gravado: os administradores podem receber o aviso de que o último é antigo.',
  unwritable: (path, code) => `Não foi possível gravar ${path} (${code}).`,
  newerDatabase: 'O banco de dados é de uma versão mais nova do Carillon: faça o backup com essa versão.',
  filesAdded: (files) => count(files, 'arquivo', 'arquivos'),
  notBackup: (path) => `${path} não é um backup do Carillon.`,
  truncated: (path, error) => `${path} está danificado ou incompleto (${error}): nada foi restaurado.`,
  otherFormat: (path, format, own) =>
    `${path} tem o formato ${format}, e esta versão lê o formato ${own}: use outra versão.`,
  damaged: (path, reason) => `${path} está danificado (${reason}): nada foi restaurado.`,
  damages: {
    tableOrder: (table) => `a tabela ${table} está fora do lugar`,
    order: () => 'uma entrada está fora do lugar',
    end: () => 'falta o fim',
    rest: () => 'há algo depois do fim',
    table: (table) => `a tabela ${table} não confere com o manifesto`,
    header: () => 'o cabeçalho não confere com o manifesto',
    files: () => 'os arquivos não conferem com o manifesto',
    size: () => 'uma entrada é longa demais',
    json: () => 'uma entrada não é JSON',
  },
  backupProblems: {
    notEmpty: (tables) =>
      `O banco de dados não está vazio (${tables}): um backup só pode ser restaurado em um banco vazio.`,
    unknownColumn: (name) => `O backup está danificado: ele contém ${name}, que não existe no esquema dele.`,
    tooOld: (schema) =>
      `O backup é de antes de 0000_initial (o esquema é ${schema}): restaure-o com a versão dele e depois atualize.`,
    tooNew: (schema) => `O backup é de um Carillon mais novo (o esquema é ${schema}): restaure-o com essa versão.`,
    noTables: () => 'O banco de dados ainda não tem tabelas: não há nada para o backup.',
    migrated: () => 'O banco de dados foi migrado durante o backup. Faça o backup de novo.',
  },
  needsDisk: 'O backup contém arquivos de STORAGE_DRIVER=disk: defina o mesmo aqui.',
  restoring: 'Restaurando',
  restored: (rows, files, moment) =>
    `Restauramos ${count(rows, 'linha', 'linhas')} e ${count(files, 'arquivo', 'arquivos')} de ${moment}.`,
  missingKeys: (keys) =>
    `falta em ENCRYPTION_KEY a chave ${keys} do backup: não é possível decifrar os segredos criptografados com ela.`,
  filesInBucket: (url) => `os arquivos estão no bucket em ${url}, e não no backup.`,
  filesMoved: (from, to) => `os arquivos estavam em ${from} e agora estão em ${to}: os links existentes mudaram.`,
  warning: (text) => `Aviso: ${text}`,

  keysOf: (user, keys) => `${user} tem ${count(keys, 'chave de API', 'chaves de API')}.`,
  noExpiry: 'não expira',
  expired: (moment) => `expirou em ${moment}`,
  expires: (moment) => `expira em ${moment}`,
  neverUsed: 'nunca usada',
  lastUsed: (moment) => `usada pela última vez em ${moment}`,
  idsOrAll: 'Informe ids de chaves ou --all.',
  notKeyId: (id) => `${id} não é o id de uma chave: veja \`keys list\`.`,
  revoked: (key) => `Chave revogada: ${key}`,
  noKeysLeft: (user) => `${user} não tem mais chaves de API.`,
  noKey: (user, id) => `${user} não tem a chave de API ${id}.`,

  urlAndKey: 'Informe --url e --key, ou defina CARILLON_URL e CARILLON_KEY.',
  notUrl: (url) => `${url} não é um endereço com http ou https.`,
  notReached: (url, reason) => `${url} não respondeu (${reason}).`,
  refused: (status, reason) => `Recusado com ${status}: ${reason}`,
  nextRun: (name, moment) => `${name}, próxima execução ${moment}`,
  imported: ({ created, updated, unchanged, deleted }) =>
    `Criadas: ${number(created)}, alteradas: ${number(updated)}, iguais: ${number(unchanged)}, excluídas: ${number(deleted)}.`,
  wouldImport: ({ created, updated, unchanged, deleted }) =>
    `A criar: ${number(created)}, a alterar: ${number(updated)}, iguais: ${number(unchanged)}, a excluir: ${number(deleted)}.`,

  pruning: 'Limpando',
  prunedKinds: {
    executions: 'execuções',
    occurrences: 'ocorrências',
    'open deliveries': 'entregas em aberto',
    deliveries: 'entregas',
    events: 'eventos',
    alerts: 'alertas',
    notifications: 'notificações',
    'audit entries': 'registros da auditoria',
    'usage records': 'registros de uso',
    'usage counters': 'contadores de uso',
    files: 'arquivos',
    'rate-limit windows': 'janelas do limite de requisições',
    'rejected requests': 'requisições recusadas',
    sessions: 'sessões',
    'reset tokens': 'links para redefinir a senha',
    mails: 'e-mails',
    'idempotency keys': 'chaves de idempotência',
    proposals: 'propostas',
    'sign-in tickets': 'acessos não concluídos',
    'passkey challenges': 'desafios de chaves de acesso',
    'unconfirmed factors': 'segundos fatores não confirmados',
    'assistant tokens': 'tokens de aplicativos conectados',
    'assistant programs': 'programas sem conexão',
  },
  pruned: (kind, rows) => `Exclusão de ${kind}: ${rows}`,
  ended: (kind, rows) => `Encerramento de ${kind}: ${rows}`,
  deletedObjects: (objects) => `Exclusão de ${count(objects, 'objeto', 'objetos')} de arquivos excluídos`,
  withoutUpload: 'arquivos sem registro no banco',
  deletedOrphans: (files) => `Exclusão de ${count(files, 'arquivo', 'arquivos')} sem registro no banco`,
  otherFiles: (folder, files) =>
    `${folder} contém arquivos antigos (${files}), nenhum deles conhecido por este banco de dados. Eles podem ser de outra instalação e não foram excluídos.`,

  usageDiffers: (user, period, differences) => `Usuário ${user}, ${period}: ${differences}`,
  uploads: 'arquivos',
  tasksDiffer: (user, differences) => `Usuário ${user}: tarefas ${differences}`,
  insteadOf: (counted, expected) => `${counted} em vez de ${expected}`,
  countersMatch: 'Todos os contadores de uso conferem com o registro.',
  countersDiffer: (counters) => `Contadores de uso que não conferem com o registro: ${number(counters)}.`,
  totalsMatch: 'Todos os totais de armazenamento conferem com os arquivos.',
  totalsDiffer: (totals) => `Totais de armazenamento que não conferem com os arquivos: ${number(totals)}.`,
  countsMatch: 'Todos os números de tarefas conferem.',
  countsDiffer: (counts) => `Números de tarefas que não conferem: ${number(counts)}.`,

  reencrypted: (column, secrets, key) => `${column}: ${secrets} criptografados de novo com a chave "${key}"`,
  undecryptable: (secrets) => `Segredos que nenhuma chave de ENCRYPTION_KEY decifra: ${number(secrets)}.`,
  secretsChanged: (secrets) => `Segredos que mudaram durante o comando: ${number(secrets)}. Execute-o de novo.`,
  secretsDone: (key) =>
    `Todos os segredos estão criptografados com a chave "${key}". As outras chaves podem sair de ENCRYPTION_KEY.`,

  factorsRemoved: (email, factors) =>
    `Segundos fatores de ${email} removidos: ${factors}. Todas as sessões da conta foram encerradas.`,
  noSuchAccount: 'Nenhuma conta tem este e-mail.',
  noAccount: (email) => `Nenhuma conta tem o e-mail ${email}.`,
};
