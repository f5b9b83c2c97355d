import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { type ByteReservation, createByteBudget } from '../../../src/product/executions/pipeline/byte-budget.ts';

const never = new AbortController().signal;

/** Reserves bytes and records the order in which they were granted. */
function asking(capacity: number) {
  const budget = createByteBudget(capacity);
  const given: string[] = [];
  const take = (name: string, bytes: number, signal = never) => {
    const share = budget.reserve(bytes, signal);
    share.then(
      () => given.push(name),
      () => given.push(`not ${name}`),
    );
    return share;
  };
  return { take, given };
}
const release = (share: ByteReservation) => share[Symbol.dispose]();

t.test('Bytes that fit are reserved at once, and others wait until enough are free', async (t) => {
  const { take, given } = asking(10);
  const [first, second] = await Promise.all([take('first', 6), take('second', 4)]);
  const third = take('third', 5);
  await nextTurn();
  t.strictSame(given, ['first', 'second']);
  release(second);
  await nextTurn();
  t.strictSame(given, ['first', 'second'], 'four are not enough');
  release(first);
  await third;
  t.strictSame(given, ['first', 'second', 'third']);
});

t.test('Reservations are granted in order, even if a later one would fit', async (t) => {
  const { take, given } = asking(10);
  const holder = await take('holder', 8);
  const [large, small] = [take('large', 9), take('small', 1)];
  await nextTurn();
  t.strictSame(given, ['holder']);
  release(holder);
  await Promise.all([large, small]);
  t.strictSame(given, ['holder', 'large', 'small']);
});

t.test('A reservation can be given back in part, and never twice', async (t) => {
  const { take, given } = asking(10);
  const first = await take('first', 10);
  first.shrinkTo(3);
  first.shrinkTo(8);
  const second = await take('second', 7);
  const third = take('third', 8);
  release(first);
  release(first);
  await nextTurn();
  t.strictSame(given, ['first', 'second']);
  release(second);
  await third;
});

t.test('A request for more than the budget reserves all of it', async (t) => {
  const { take, given } = asking(10);
  const small = await take('small', 1);
  const huge = take('huge', 11);
  await nextTurn();
  t.strictSame(given, ['small']);
  release(small);
  const next = take('next', 1);
  release(await huge);
  await next;
});

t.test('A waiter that aborts makes way for those behind it', async (t) => {
  const { take, given } = asking(10);
  const abort = new AbortController();
  const first = await take('first', 6);
  const gone = take('gone', 8, abort.signal);
  const behind = take('behind', 4);
  abort.abort(new Error('given up'));
  await t.rejects(gone, { message: 'given up' });
  await behind;
  await t.rejects(take('late', 1, abort.signal), { message: 'given up' });
  t.strictSame(given, ['first', 'not gone', 'behind', 'not late']);
  release(first);
  release(await behind);
  await take('all', 10);
});

t.test('Aborting after the bytes were reserved takes nothing away', async (t) => {
  const { take, given } = asking(10);
  const abort = new AbortController();
  const first = await take('first', 10, abort.signal);
  abort.abort();
  const next = take('next', 1);
  await nextTurn();
  t.strictSame(given, ['first']);
  release(first);
  await next;
});
