/**
 * Makes of `look` a function that never looks twice at the same time: a call while it looks makes it look once more
 * afterwards, and all calls end with the last look. An error goes to `onError`.
 */
export function singleFlight(look: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let looking: Promise<void> | null = null;
  let again = false;

  return () => {
    again = true;
    looking ??= (async () => {
      try {
        while (again) {
          again = false;
          await look();
        }
      } catch (error) {
        onError(error);
      } finally {
        looking = null;
      }
    })();
    return looking;
  };
}
