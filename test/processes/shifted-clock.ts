// Loaded before a program: its clock differs from the machine's by CLOCK_SHIFT_MS.
const { now } = Date;
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
Date.now = () => now() + shiftMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [target.now()] : given, newTarget),
});
