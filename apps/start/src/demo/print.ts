export const printStep = (number: number, title: string) => console.log(`\n${number}. ${title}`);
export const printLine = (line: string) => console.log(`   ${line}`);

export function assert(condition: unknown, failure: string): asserts condition {
  if (!condition) throw new Error(failure);
}
