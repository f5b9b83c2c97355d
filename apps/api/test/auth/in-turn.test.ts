import t from 'tap';
import { limitConcurrency } from '../../src/auth/in-turn.ts';

/** Work that ends when it is told to. */
function steps() {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  return { work, begun: () => ends.length, endNext: () => ends.shift()?.() };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

t.test('no more work runs at once than is allowed, and the rest follows in the order it came', async (t) => {
  const inTurn = limitConcurrency({ atOnce: 2, waitingAtMost: 100 });
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
  await Promise.all(Array.from({ length: 50 }, (_, name) => inTurn(work(name))));
  t.equal(most, 2);
  t.same(
    order,
    Array.from({ length: 50 }, (_, name) => name),
  );
});

t.test('whoever would be one too many in the queue is refused at once, and the others are served', async (t) => {
  const inTurn = limitConcurrency({ atOnce: 2, waitingAtMost: 3 });
  const { work, begun, endNext } = steps();
  const served = Array.from({ length: 5 }, () => inTurn(work));
  await t.rejects(inTurn(work), { name: 'AppError', message: /Too many/ });
  t.equal(begun(), 2);
  for (let ended = 0; ended < 5; ended++) {
    endNext();
    await tick();
  }
  await Promise.all(served);
  await t.resolves(inTurn(async () => {}));
});

t.test('work that fails gives its place on', async (t) => {
  const inTurn = limitConcurrency({ atOnce: 1, waitingAtMost: 10 });
  const fail = async () => {
    throw new Error('on purpose');
  };
  const outcomes = await Promise.allSettled([inTurn(fail), inTurn(fail), inTurn(async () => 'fine')]);
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  );
  t.equal(await inTurn(async () => 'again'), 'again');
});
