import ora from 'ora';

const WIDTH = 30;

export interface Progress {
  /** Tells how much of the whole is done, in the same unit, and what is being done. */
  show(done: number, of: number, what: string): void;
  end(): void;
}

/** A bar on the terminal of the operator; nothing where the errors of the command go somewhere else. */
export function startProgress(title: string): Progress {
  // A terminal that does not know its width has no room for a bar.
  if (!process.stderr.isTTY || !process.stderr.columns) return { show: () => {}, end: () => {} };
  // Reading the terminal itself it would keep Ctrl-C from the command.
  const spinner = ora({ text: title, stream: process.stderr, discardStdin: false }).start();
  return {
    show(done, of, what) {
      const share = of > 0 ? Math.min(done / of, 1) : 1;
      const filled = Math.round(share * WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      spinner.text = `${title} ${bar} ${Math.floor(share * 100)} % ${what}`;
    },
    end: () => void spinner.stop(),
  };
}
