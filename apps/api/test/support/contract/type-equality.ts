/** Whether two types are identical: `assertType<IsSame<A, B>>()` compiles only then. */
export type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Flattens an intersection into one object type. */
export type Flatten<T> = { [K in keyof T]: T[K] };

export const assertType = <_ extends true>(): void => {};
