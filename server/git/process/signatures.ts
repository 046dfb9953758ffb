// Author and committer of a repository's future commits, without making one.

import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import type { Signatures } from './identity.ts';

export async function readSignatures(
  context: Pick<RepositoryContext, 'git' | 'identity'>,
): Promise<GitResult<Signatures>> {
  const author = await ident(context, 'GIT_AUTHOR_IDENT');
  if (!author.ok) return author;
  const committer = await ident(context, 'GIT_COMMITTER_IDENT');
  return committer.ok ? ok({ author: author.value, committer: committer.value }) : committer;
}

async function ident(
  context: Pick<RepositoryContext, 'git' | 'identity'>,
  name: string,
): Promise<GitResult<string>> {
  const output = await context.git(['var', name], { env: await context.identity() });
  if (output.code !== 0) return err(failureOf(output, `ask git for ${name}`));
  // The time follows the email address.
  return ok(output.stdout.toString('utf8').replace(/ \d+ [+-]\d{4}\s*$/u, ''));
}
