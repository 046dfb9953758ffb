// Addresses that open something in Drover: `vscode://drover.drover/task/<id>`, and the same with
// epic, run and inbox. They never change anything. Pure.

import { checkId } from '../../server/core/ids.ts';

export type Link =
  | { readonly kind: 'task' | 'epic' | 'run'; readonly id: string }
  | { readonly kind: 'inbox' };

const kinds = ['task', 'epic', 'run'] as const;

/** Returns null if the path is not one of Drover's. */
export function readLink(path: string): Link | null {
  const [kind, id, ...rest] = path.replace(/^\/+|\/+$/g, '').split('/');
  if (kind === 'inbox' && id === undefined) return { kind };
  const known = kinds.find((each) => each === kind);
  if (known === undefined || id === undefined || rest.length > 0) return null;
  const plain = decoded(id);
  return plain !== null && checkId(plain).ok ? { kind: known, id: plain } : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** `scheme`: the one of this VS Code, which differs between its builds. */
export function linkTo(scheme: string, kind: 'task' | 'epic', id: string): string {
  return `${scheme}://drover.drover/${kind}/${encodeURIComponent(id)}`;
}
