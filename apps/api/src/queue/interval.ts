/**
 * Runs `work` at once and then every `everyMs` milliseconds, never twice at the same time; an error goes to `onError`
 * and the loop goes on. `stop` waits for the run that is under way.
 */
export function startInterval(everyMs: number, work: () => Promise<unknown>, onError: (error: unknown) => void) {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<unknown> = Promise.resolve();

  const turn = () => {
    current = work()
      .catch(onError)
      .then(() => {
        if (!stopped) timer = setTimeout(turn, everyMs);
      });
  };
  turn();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
