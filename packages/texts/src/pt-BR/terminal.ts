import type { terminal as en } from '../en/terminal.ts';

export const terminal: typeof en = {
  runsAt: (address) => `O Carillon está em ${address}`,
  openSoon: 'Abra este endereço em até uma hora para criar sua conta.',
  provider: (name) => `Provedor: ${name}`,
  offline: 'nenhum (defina AI_BASE_URL)',
  mail: (target) => `E-mail: ${target}`,
  mailFolder: (folder) => `arquivos em ${folder} (defina SMTP_URL)`,
  stops: 'Ctrl-C encerra.',
  opensAndStops: 'o + Enter abre o endereço. Ctrl-C encerra.',
  stopping: 'Encerrando. Pressione Ctrl-C de novo para encerrar imediatamente.',
};
