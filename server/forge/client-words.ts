// Words for an answer of the host that contains no facts.

import { isObject } from '../core/exchange/json-object.ts';
import type { Unreadable } from './port.ts';

const messageMax = 300;

export function refusalOf(
  status: number,
  { host, pathname }: URL,
  token: string | null,
  message: string,
): Unreadable {
  const place = `${host}${pathname}`;
  const told = (cause: Unreadable['cause'], why: string): Unreadable => ({
    kind: 'unreadable',
    why,
    cause,
  });
  switch (status) {
    case 401: {
      const remedy = 'Sign in again (gh auth login), or renew GH_TOKEN.';
      return told('signed_out', `${host} does not accept the token. ${remedy}`);
    }
    case 403:
      return told('refused', `${place} may not be read with this token${message}.`);
    case 404:
    case 410: {
      if (token !== null)
        return told('absent', `${place} does not exist, or this token may not read it.`);
      const remedy = 'sign in (gh auth login), or set GH_TOKEN';
      return told('signed_out', `${place} does not exist, or needs a token: ${remedy}.`);
    }
    case 422:
      return told('invalid', `${host} refuses this${message}.`);
    default:
      return told('other', `${place} answered with status ${status}${message}.`);
  }
}

/** Returns the host's reply to the request as one short line. */
export function messageOf(body: unknown): string {
  if (!isObject(body) || typeof body['message'] !== 'string') return '';
  return `: ${oneLine(`${body['message']} ${wordsOf(body['errors'])}`)}`;
}

export function wordsOf(errors: unknown): string {
  const list = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  const words = list.map((error) => (isObject(error) ? error['message'] : error));
  return oneLine(words.filter((word) => typeof word === 'string').join('; '));
}

export function oneLine(text: string): string {
  const words = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return words.slice(0, messageMax).replace(/\.$/u, '');
}
