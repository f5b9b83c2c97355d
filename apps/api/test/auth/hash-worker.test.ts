import t from 'tap';
import { limitConcurrency } from '../../src/product/auth/hash-worker.ts';

/** Work that ends when the test ends it. */
function steps() {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  return { work, begun: () => ends.length, endNext: () => ends.shift()?.() };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

t.test('No more work runs at once than allowed, and the rest follows in its order', async (t) => {
  const limited = limitConcurrency({ concurrency: 2, maxWaiting: 100 });
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const work = (name: number) => async () => {
    order.push(name);
    running += 1;
    most = Math.max(most, running);
    await tick();
    running -= 1;
  };
  await Promise.all(Array.from({ length: 50 }, (_, name) => limited(work(name))));
  t.equal(most, 2);
  t.same(
    order,
    Array.from({ length: 50 }, (_, name) => name),
  );
});

t.test('Work beyond the queue is refused at once, and the queue is served', async (t) => {
  const limited = limitConcurrency({ concurrency: 2, maxWaiting: 3 });
  const { work, begun, endNext } = steps();
  const served = Array.from({ length: 5 }, () => limited(work));
  await t.rejects(limited(work), { name: 'AppError', message: /Too many/ });
  await tick();
  t.equal(begun(), 2);
  for (let ended = 0; ended < 5; ended++) {
    endNext();
    await tick();
  }
  await Promise.all(served);
  await t.resolves(limited(async () => {}));
});

t.test('Failed work starts the next in the queue', async (t) => {
  const limited = limitConcurrency({ concurrency: 1, maxWaiting: 10 });
  const fail = async () => {
    throw new Error('on purpose');
  };
  const outcomes = await Promise.allSettled([limited(fail), limited(fail), limited(async () => 'fine')]);
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  );
  t.equal(await limited(async () => 'again'), 'again');
});
