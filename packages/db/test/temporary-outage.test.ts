import t from 'tap';
import { describeTemporaryOutage } from '../src/temporary-outage.ts';

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code });

t.test('An outage that passes by itself has a reason in words, also as the cause of an error', async (t) => {
  const reasons = {
    ECONNREFUSED: 'it refuses connections (ECONNREFUSED)',
    CONNECT_TIMEOUT: 'it does not answer (CONNECT_TIMEOUT)',
    EAI_AGAIN: 'its host name cannot be looked up at the moment (EAI_AGAIN)',
    '57P03': 'it starts up or recovers (57P03)',
    '25006': 'it is read-only, like a standby (25006)',
    '53300': 'it has no connection left (53300)',
    '08006': 'it is not available (08006)',
  };
  for (const [code, reason] of Object.entries(reasons)) {
    t.equal(describeTemporaryOutage(withCode(code)), reason);
    t.equal(describeTemporaryOutage(new Error('a statement', { cause: withCode(code) })), reason);
  }
});

t.test('An error that the operator has to correct, or a bug, has none', async (t) => {
  for (const code of ['28P01', '28000', '3D000', 'ENOTFOUND', '42501', '42703', 'DEPTH_ZERO_SELF_SIGNED_CERT']) {
    t.equal(describeTemporaryOutage(withCode(code)), null, code);
  }
  t.equal(describeTemporaryOutage(new TypeError('a bug')), null);
});

t.test('An error of PgBouncer is judged by its text', async (t) => {
  t.equal(describeTemporaryOutage(withCode('08P01', 'no such database: nothing')), null);
  t.equal(describeTemporaryOutage(withCode('08P01', 'SASL authentication failed')), null);
  t.match(describeTemporaryOutage(withCode('08P01', 'server login has been failing, try again later')), /08P01/);
});
