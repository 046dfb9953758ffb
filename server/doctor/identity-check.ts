// Names the identity of Drover's future commits.

import { droverEmail } from '../git/process/identity.ts';
import { readSignatures } from '../git/process/signatures.ts';
import type { LocalRepository } from '../git/local-port.ts';

/** One line of `drover doctor`. */
interface IdentityCheck {
  readonly name: 'identity';
  readonly ok: boolean;
  readonly message: string;
}

export async function identityCheck({ context }: LocalRepository): Promise<IdentityCheck> {
  const name = 'identity';
  const read = await readSignatures(context);
  if (!read.ok) return { name, ok: false, message: read.error.message };
  const { author, committer } = read.value;
  const also = author === committer ? '' : `, committed by ${committer}`;
  const isUnset = author.includes(`<${droverEmail}>`);
  const remedy = isUnset
    ? '; user.name or user.email is not set: run "git config --global user.name" and "user.email"'
    : '';
  const warning = isUnset ? 'warning: ' : '';
  return { name, ok: true, message: `${warning}commits will bear ${author}${also}${remedy}` };
}
