/** Whether two types are the very same, to be asked as `holds<Same<A, B>>()`: where they are not, it does not compile. */
export type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** An intersection as the one object that it is. */
export type Flatten<T> = { [K in keyof T]: T[K] };

/** Takes `true` only. */
export const assertType = <_ extends true>(): void => {};
