import ora from 'ora';

const WIDTH = 30;

export interface ProgressBar {
  /** `done` and `total` are in the same unit; `label` says what is being done. */
  show(done: number, total: number, label: string): void;
  end(): void;
}

/** Shows a bar on standard error; nothing if that is not a terminal. */
export function startProgressBar(title: string): ProgressBar {
  // Some terminals do not report their width.
  if (!process.stderr.isTTY || !process.stderr.columns) return { show: () => {}, end: () => {} };
  // ora's `discardStdin` would swallow Ctrl-C.
  const spinner = ora({ text: title, stream: process.stderr, discardStdin: false }).start();
  return {
    show(done, total, label) {
      const share = total > 0 ? Math.min(done / total, 1) : 1;
      const filled = Math.round(share * WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      spinner.text = `${title} ${bar} ${Math.floor(share * 100)} % ${label}`;
    },
    end: () => void spinner.stop(),
  };
}
