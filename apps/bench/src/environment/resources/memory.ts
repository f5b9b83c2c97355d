import { readFileSync } from 'node:fs';

const FIELDS = { resident: 'VmRSS', 'most resident': 'VmHWM' };

/** In megabytes, now or at most since the start of the process. On Linux. */
export function readMemoryMb(pid: number, which: keyof typeof FIELDS = 'resident'): number {
  const line = new RegExp(`^${FIELDS[which]}:\\s+(\\d+) kB$`, 'm');
  const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
