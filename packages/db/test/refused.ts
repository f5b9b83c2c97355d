/** How long it took to be refused, and with what; no error where it was not. */
export async function refused(work: PromiseLike<unknown>): Promise<{ ms: number; error: unknown }> {
  const since = performance.now();
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { ms: performance.now() - since, error };
}
