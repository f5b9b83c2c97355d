/** What a start prints on the terminal. */
export const terminal = {
  runsAt: (address: string) => `Carillon runs at ${address}`,
  openSoon: 'Open it within an hour to create your account.',
  provider: (name: string) => `Provider: ${name}`,
  offline: 'offline (set AI_BASE_URL)',
  mail: (target: string) => `Mail: ${target}`,
  mailFolder: (folder: string) => `files in ${folder} (set SMTP_URL)`,
  stops: 'Ctrl-C stops it.',
  opensAndStops: 'o + Enter opens it. Ctrl-C stops it.',
  stopping: 'Stopping. Press Ctrl-C again to stop immediately.',
};
