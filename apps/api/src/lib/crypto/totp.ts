import { Secret, TOTP } from 'otpauth';

const ISSUER = 'Carillon';
const STEP_SECONDS = 30;
/** The clock of a phone may be wrong by as many steps. */
const SKEW_STEPS = 1;

const build = (secret: string, label = '') =>
  new TOTP({
    issuer: ISSUER,
    label,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
  });

/** 160 bits (RFC 4226), in base 32. */
export const generateTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** What a QR code shows to an authenticator app. */
export const buildTotpUri = (secret: string, label: string): string => build(secret, label).toString();

/** The time step whose code this is, one before and after `at` included; null for another code. */
export function findTotpStep(secret: string, code: string, at: Date): number | null {
  const delta = build(secret).validate({ token: code, timestamp: at.getTime(), window: SKEW_STEPS });
  return delta === null ? null : Math.floor(at.getTime() / (STEP_SECONDS * 1000)) + delta;
}
