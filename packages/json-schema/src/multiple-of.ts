/** Compares decimals, since 0.3 divided by 0.1 is not 3 in binary. */
export function isMultipleOf(value: number, factor: number): boolean {
  const [a, aExponent] = toDecimal(value);
  const [b, bExponent] = toDecimal(factor);
  const exponent = Math.min(aExponent, bExponent);
  return scale(a, aExponent - exponent) % scale(b, bExponent - exponent) === 0n;
}

/** The order of magnitude, up or down. */
export const countDigits = (value: number) => (value === 0 ? 0 : Math.abs(Math.log10(Math.abs(value))));

const scale = (digits: bigint, exponent: number) => digits * 10n ** BigInt(exponent);

/** The value is the first number times ten to the power of the second. */
function toDecimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
