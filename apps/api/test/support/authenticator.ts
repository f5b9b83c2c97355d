import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

interface Answer {
  /** Default: that of the page. */
  origin?: string;
  rpId?: string;
  /** Whether the device has verified its owner. Default: true. */
  isVerified?: boolean;
  /** Default: one more than the last time. */
  counter?: number;
}

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

/** CBOR, as far as a new passkey needs it. */
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
function cborBytes(bytes: Uint8Array) {
  const { length } = bytes;
  return Buffer.concat([Buffer.from(length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255]), bytes]);
}

/** A device with one passkey, as a browser hands out its answers. */
export function createAuthenticator(origin: string, { isShared = false } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = encode(credentialId);
  let used = 0;

  const clientData = (type: string, challenge: string, from = origin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));

  function authenticatorData({ rpId = new URL(origin).hostname, isVerified = true, counter }: Answer, flags: number) {
    used += isShared ? 0 : 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? used);
    return Buffer.concat([sha256(rpId), Buffer.from([flags | 1 | (isVerified ? 4 : 0)]), count]);
  }

  const toCredential = <R extends object>(response: R) => ({ id, rawId: id, type: 'public-key' as const, response });

  return {
    id,
    /** Answers the options of a new passkey. */
    register({ challenge }: { challenge: string }, answer: Answer = {}) {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const [left, right] = [x, y].map((part) => cborBytes(Buffer.from(part, 'base64url')));
      const cose = Buffer.concat([
        Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
        left as Buffer,
        Buffer.from([0x22]),
        right as Buffer,
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, credentialId.length]), credentialId, cose]);
      const authData = Buffer.concat([authenticatorData(answer, 0x40), attested]);
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        cborBytes(authData),
      ]);
      return toCredential({
        clientDataJSON: encode(clientData('webauthn.create', challenge, answer.origin)),
        attestationObject: encode(attestationObject),
        transports: ['internal'],
      });
    },
    /** Answers the options of a sign-in. */
    assert({ challenge }: { challenge: string }, answer: Answer = {}) {
      const data = clientData('webauthn.get', challenge, answer.origin);
      const authData = authenticatorData(answer, 0);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return toCredential({
        clientDataJSON: encode(data),
        authenticatorData: encode(authData),
        signature: encode(signature),
      });
    },
  };
}
