import type { Citation, OutputChange } from '@carillon/db';
import type { Reader } from '@carillon/texts';

/** What a message is about, for every kind of channel. Texts are untrusted. */
export interface ChannelMessage {
  /** The owner of the channel. */
  reader: Reader;
  level: 'success' | 'failure' | 'alert' | 'recovery' | 'notice';
  /** One line of plain text. */
  title: string;
  /** Plain text: an error or the explanation of an alert. */
  text: string | null;
  markdown: string | null;
  /** The limit of tokens or of size cut the answer off. */
  isCut?: boolean;
  /** The pages that the answer cites. */
  citations: readonly Citation[];
  /** What differs from the last success; empty if nothing does, or there was none. */
  changes: readonly OutputChange[];
  /** The page of the run, the task or the notification. */
  url: string;
  at: Date;
  /** The messages of a digest, oldest first; empty for any other. */
  items: readonly ChannelMessage[];
}
