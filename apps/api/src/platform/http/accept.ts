/** Whether an `Accept` header prefers `type` to `standard`, which wins at equal quality, unlike in `negotiator`. */
export function prefersType(accept: string | undefined, type: string, standard: string): boolean {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2);
    return { name, quality: quality === undefined ? 1 : Number(quality) || 0 };
  });
  // The most specific range counts (RFC 9110, 12.5.1).
  const getQuality = (wanted: string) =>
    [wanted, wanted.replace(/\/.*/, '/*'), '*/*'].map((one) => ranges.find(({ name }) => name === one)).find(Boolean)
      ?.quality ?? 0;
  return getQuality(type) > getQuality(standard);
}
