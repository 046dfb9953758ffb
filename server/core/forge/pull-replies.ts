// A person's reply on a thread of a pull request, as the forge gets it and as people read it. Pure.

import { readable } from './issue-texts.ts';

/** GitHub refuses longer comments. */
export const replyCharsMax = 60_000;

export interface PersonReply {
  /** Different for each reply. */
  readonly id: string;
  /** The pull request, by the provider's own id and its number. */
  readonly nativeId: string;
  readonly number: number;
  readonly threadId: string;
  readonly text: string;
}

/**
 * The hidden end tells it from an equal reply after a crash. It is not the end of a comment of
 * Drover's own: an agent gets the reply of someone who may write to the repository.
 */
export function personReplyBody(reply: PersonReply): string {
  return `${reply.text}\n\n${replyMark(reply)}`;
}

export function replyMark({ id }: Pick<PersonReply, 'id'>): string {
  return `<!-- drover ${id} -->`;
}

/** Text of the forge for a person: without hidden parts. It is never used as HTML. */
export function shownText(body: string): string {
  return readable(body);
}

export interface ThreadPlace {
  readonly path: string | null;
  readonly line: number | null;
}

/** `src/auth.ts:40`; a review without a path is about the whole change. */
export function threadPlace({ path, line }: ThreadPlace): string {
  if (path === null) return 'The whole change';
  return line === null ? path : `${path}:${line}`;
}
