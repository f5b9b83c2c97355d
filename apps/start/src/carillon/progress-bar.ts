import { clearLine, cursorTo } from 'node:readline';

const WIDTH = 30;

export interface ProgressBar {
  /** `done` and `total` are in the same unit; `label` says what is being done. */
  show(done: number, total: number, label: string): void;
  end(): void;
}

/** Shows a bar on standard error; nothing if that is not a terminal. */
export function startProgressBar(title: string): ProgressBar {
  const { stderr } = process;
  // Some terminals do not report their width.
  if (!stderr.isTTY || !stderr.columns) return { show: () => {}, end: () => {} };
  const draw = (text: string) => {
    cursorTo(stderr, 0);
    // A longer line would wrap, and stay.
    stderr.write(text.slice(0, stderr.columns - 1));
    clearLine(stderr, 1);
  };
  draw(title);
  return {
    show(done, total, label) {
      const share = total > 0 ? Math.min(done / total, 1) : 1;
      const filled = Math.round(share * WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
      draw(`${title} ${bar} ${Math.floor(share * 100)} % ${label}`);
    },
    end: () => draw(''),
  };
}
