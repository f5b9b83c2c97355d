/** How long the work took, and its error if it rejected. */
export async function refused(work: PromiseLike<unknown>): Promise<{ ms: number; error: unknown }> {
  const since = performance.now();
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { ms: performance.now() - since, error };
}
