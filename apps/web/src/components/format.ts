import { getTexts } from '@carillon/texts';

/** English formats, for the pages whose texts are not in the catalogs. */
const { formats } = getTexts('en');

export const formatLongDay = formats.longDay;
export const formatTime = formats.time;
export const formatSeconds = formats.timeWithSeconds;
export const formatDistance = formats.distance;
export const formatDuration = formats.duration;
export const formatCount = formats.number;
export const formatShortCount = formats.shortNumber;
export const formatCost = formats.money;
export const formatBytes = formats.bytes;

export const formatDay = (at: Date, timeZone: string, now: Date): string => formats.day(at, { now, timeZone });

export const formatMoment = (at: Date, timeZone: string, now: Date): string =>
  formats.momentLabel(at, { now, timeZone });

export const formatLongMoment = (at: Date, timeZone: string, now: Date): string =>
  formats.longMoment(at, { now, timeZone });

export const formatMomentInText = (at: Date | string, timeZone: string, now: Date): string =>
  formats.moment(new Date(at), { now, timeZone });

export const countWords = (count: number, one: string, many = `${one}s`): string => formats.count(count, one, many);
