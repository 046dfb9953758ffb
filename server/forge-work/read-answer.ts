// A response of the forge as a fact: read, partly read, or unread with the reason.

import type { Read } from '../core/forge/observed-pull.ts';
import type { Answer } from '../forge/port.ts';

export function toRead<T>(answer: Answer<T>): Read<T> {
  if (answer.kind !== 'facts') return { kind: 'unread', why: whyUnread(answer) };
  const { value, missing } = answer;
  return { kind: 'read', value, ...(missing !== undefined && { missing }) };
}

export function whyUnread(answer: Exclude<Answer<unknown>, { readonly kind: 'facts' }>): string {
  return answer.kind === 'limited' ? 'the forge allows no more requests for now' : answer.why;
}
