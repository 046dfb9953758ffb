// Formats a person's reply to a thread of a pull request, for the forge and for people. Pure.

/** GitHub rejects longer comments. */
export const replyCharsMax = 60_000;

export interface PersonReply {
  /** Unique for each reply. */
  readonly id: string;
  /** The provider's ID of the pull request. */
  readonly nativeId: string;
  readonly number: number;
  readonly threadId: string;
  readonly text: string;
}

/**
 * Appends a hidden mark to the reply, so that Drover finds the reply again after a crash even if
 * another one has the same text. Drover's own comments end with a different mark, because agents
 * ignore those but read this reply if its author may write to the repository.
 */
export function personReplyBody(reply: PersonReply): string {
  return `${reply.text}\n\n${replyMark(reply)}`;
}

export function replyMark({ id }: Pick<PersonReply, 'id'>): string {
  return `<!-- drover ${id} -->`;
}

export interface ThreadPlace {
  readonly path: string | null;
  readonly line: number | null;
}

/** Returns for example `src/auth.ts:40`. A review without a path is about the whole change. */
export function threadPlace({ path, line }: ThreadPlace): string {
  if (path === null) return 'The whole change';
  return line === null ? path : `${path}:${line}`;
}
