import { parse } from 'postgres-array';

const toText = (element: string): unknown => element;
const toBoolean = (element: string): unknown => element === 't';

/** How the elements of PostgreSQL's array types are read, by the type's OID. Integers wider than 32 bits stay text. */
const ELEMENTS: Record<number, (element: string) => unknown> = {
  1000: toBoolean, // boolean[]
  1005: Number, // smallint[]
  1007: Number, // integer[]
  1009: toText, // text[]
  1015: toText, // varchar[]
  1016: toText, // bigint[]
  1021: Number, // real[]
  1022: Number, // double precision[]
  1231: toText, // numeric[]
  2951: toText, // uuid[]
};

/** The driver's own query for the types ends the process if the connection breaks during it. */
export const ARRAY_PARSERS: Record<number, (text: string) => unknown> = Object.fromEntries(
  Object.entries(ELEMENTS).map(([oid, toElement]) => [oid, (text: string) => parse(text, toElement)]),
);
