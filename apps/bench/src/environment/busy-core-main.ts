// BUSY_MS of each PERIOD_MS, for at most MAX_MS. Stops by itself when its parent is gone.
const [busyMs, periodMs, maxMs] = [process.env.BUSY_MS, process.env.PERIOD_MS, process.env.MAX_MS].map(Number) as [
  number,
  number,
  number,
];
const never = new Int32Array(new SharedArrayBuffer(4));
const { ppid } = process;
console.log('ready');
for (let at = performance.now(); at < maxMs && process.ppid === ppid; at += periodMs) {
  while (performance.now() < at + busyMs);
  // A timer would be up to a millisecond late.
  Atomics.wait(never, 0, 0, Math.max(0, at + periodMs - performance.now()));
}
